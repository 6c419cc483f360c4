// A clock that counts down by the server's time, and how much of a file is sent.
"use strict";
(function () {
  const time = document.querySelector("time[data-closes]");
  if (time && time.dataset.closes) {
    const ahead = Number(time.dataset.now) - Date.now();
    const told = time.textContent;
    const tick = function () {
      let left = Math.floor((Number(time.dataset.closes) - Date.now() - ahead) / 1000);
      if (left < 0) { time.textContent = told; return; }
      const days = Math.floor(left / 86400);
      left -= days * 86400;
      const parts = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
      const clock = parts.map(function (n) { return String(n).padStart(2, "0"); }).join(":");
      time.textContent = "in " + (days ? days + " d " : "") + clock;
    };
    tick();
    setInterval(tick, 1000);
  }
  const form = document.getElementById("submit");
  const bar = document.getElementById("sent");
  if (!form || !bar || !window.FormData) { return; }
  form.addEventListener("submit", function (event) {
    const file = document.getElementById("file").files[0];
    if (!file || file.size < 1 << 20) { return; }
    event.preventDefault();
    const data = new FormData(form);
    if (event.submitter) { data.set(event.submitter.name, event.submitter.value); }
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    bar.hidden = false;
    request.upload.addEventListener("progress", function (e) { bar.value = e.loaded / e.total; });
    request.addEventListener("load", function () {
      if (request.status < 300 && request.responseURL !== location.href) {
        location.assign(request.responseURL);
        return;
      }
      document.open();
      document.write(request.responseText);
      document.close();
    });
    request.send(data);
  });
})();
