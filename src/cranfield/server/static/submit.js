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
  const say = function (text) {
    const place = document.getElementById("unsent");
    place.textContent = text;
    place.hidden = false;
    place.scrollIntoView({ block: "center" });
  };
  form.addEventListener("submit", function (event) {
    const field = document.getElementById("file");
    const file = field.files[0];
    const most = Number(field.dataset.most);
    if (file && file.size > most) {
      event.preventDefault();
      say("The file has " + file.size.toLocaleString("en") + " bytes; at most " + most.toLocaleString("en") + " are taken. Nothing was sent.");
      return;
    }
    if (file && /\.zip$/i.test(file.name)) {
      event.preventDefault();
      say("A .zip archive is not taken: choose the file itself, or one packed as .gz or .zst. Nothing was sent.");
      return;
    }
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
    request.addEventListener("error", function () {
      bar.hidden = true;
      say("The connection was cut before the file was there. Nothing was stored; what you filled in is still here, so you can send it again.");
    });
    request.send(data);
  });
})();
