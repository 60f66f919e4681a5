/* Going over a chart place by place: by finger, by arrow keys, and by ear, for which the chart is a slider that speaks the place it is at.
   The chart says how many places it has (`count`), their words (`words`), which one lies under a point of the screen (`placeAt`), and
   shows one (`show`), or none for null. */

const WEEK = 7;

/* Where each key leads; Escape leads away. */
const KEYS = {
  ArrowLeft: (place) => place - 1,
  ArrowRight: (place) => place + 1,
  PageUp: (place) => place - WEEK,
  PageDown: (place) => place + WEEK,
  Home: () => 0,
  End: (_place, count) => count - 1,
};

export function scrub(host, chart) {
  let place = null;
  const newest = () => chart.count() - 1;
  const tell = () => {
    const told = place ?? newest();
    host.setAttribute("aria-valuemax", chart.count());
    host.setAttribute("aria-valuenow", told + 1);
    host.setAttribute("aria-valuetext", chart.words(told).join(": "));
  };
  const go = (to) => {
    place = to === null ? null : Math.max(0, Math.min(to, newest()));
    tell();
    chart.show(place);
  };
  host.tabIndex = 0;
  host.setAttribute("role", "slider");
  host.setAttribute("aria-valuemin", "1");
  tell();
  host.addEventListener("focus", () => host.matches(":focus-visible") && go(newest()));
  host.addEventListener("blur", () => go(null));
  // A mouse that leaves gives way to the place of finger or keys.
  host.addEventListener("mouseleave", () => chart.show(place));
  host.addEventListener("keydown", (event) => {
    const leads = KEYS[event.key];
    const leaves = event.key === "Escape" && place !== null;
    if ((!leads && !leaves) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(leads ? leads(place ?? newest(), chart.count()) : null);
  });
  for (const name of ["pointerdown", "pointermove"]) {
    host.addEventListener(name, (event) => event.pointerType !== "mouse" && go(chart.placeAt(event.clientX)));
  }
  return { tell };
}

/* The box of the words at a place: what is told in bold, and when. It stays within the ground that it lies on. */
export function tip(ground) {
  const box = document.createElement("div");
  box.className = "chart-tip";
  box.hidden = true;
  const [day, value] = [document.createElement("span"), document.createElement("strong")];
  box.append(value, day);
  ground.append(box);
  return (words, across) => {
    box.hidden = words === null;
    if (box.hidden) return;
    [day.textContent, value.textContent] = words;
    box.style.left = `${Math.max(0, Math.min(across - box.offsetWidth / 2, ground.clientWidth - box.offsetWidth))}px`;
  };
}
