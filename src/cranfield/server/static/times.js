// Times are written in UTC; who has script reads them in the zone of their own clock.
"use strict";
for (const time of document.querySelectorAll("time[data-local]")) {
  const moment = new Date(time.dateTime);
  if (Number.isNaN(moment.getTime())) continue;
  time.textContent = moment.toLocaleString(undefined, {
    day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short",
  });
}
