/* Charts over the rows of a table: the numbers stand in the table once, for people who read and for the drawing alike.
   A host says which cell of a row is drawn (`data-cell`), and how many decimals it has (`data-decimals`). A row stands for each day, the
   newest (`data-newest` of the table) first. */

import { scrub, tip } from "./scrubber.js";

const HEIGHT = 224;
/* From so many days on, bars would be too thin to tell apart. */
const MANY = 120;

const DAY = 86_400_000;

/* The number of a text that was written for the reader's language: whatever stands between its digits. */
function number(text, decimals) {
  const digits = Number(text.replace(/\D/g, "")) / 10 ** decimals;
  return /^[-\u2212]/.test(text) ? -digits : digits;
}

const rowsOf = (table) => [...table.tBodies[0].rows].reverse();

function read(table, host) {
  const rows = rowsOf(table);
  const texts = rows.map((row) => row.cells[Number(host.dataset.cell) - 1].textContent);
  const newest = Date.parse(`${table.dataset.newest}T00:00:00Z`);
  return {
    days: rows.map((row) => row.cells[0].textContent),
    dates: rows.map((_, place) => new Date(newest - (rows.length - 1 - place) * DAY)),
    texts,
    values: texts.map((text) => number(text, host.dataset.decimals)),
  };
}

const plotted = (read) => [read.values.map((_, place) => place), read.values];

function ink(host, name) {
  const probe = document.createElement("span");
  probe.className = name;
  probe.hidden = true;
  host.append(probe);
  return () => getComputedStyle(probe).color;
}

/* The words at the pointer. */
function pointed(words) {
  let tell;
  return {
    hooks: {
      init: (plot) => {
        tell = tip(plot.over);
      },
      setCursor: (plot) => {
        const place = plot.cursor.idx;
        const isOff = place == null || plot.cursor.left < 0;
        tell(isOff ? null : words(place), isOff ? 0 : plot.valToPos(place, "x"));
      },
    },
  };
}

function options(host, current, words) {
  const lang = document.documentElement.lang.replace(/^en$/, "en-GB");
  const dayText = new Intl.DateTimeFormat(lang, { day: "2-digit", month: "short", timeZone: "UTC" });
  const short = new Intl.NumberFormat(lang, { notation: "compact", maximumFractionDigits: 1 });
  const [line, text] = [ink(host, "chart-ink-line"), ink(host, "chart-ink-text")];
  const accent = () => getComputedStyle(host).color;
  const soft = () => accent().replace(/\)$/, " / 0.15)");
  const isLong = current().values.length > MANY;
  const font = `12px ${getComputedStyle(host).fontFamily}`;
  return {
    width: host.clientWidth,
    height: HEIGHT,
    padding: [8, 28, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: isLong } },
    plugins: [pointed(words)],
    scales: {
      x: { time: false, range: (_plot, low, high) => [low - 0.5, high + 0.5] },
      y: { range: (_plot, low, high) => [Math.min(0, low), high > 0 ? high * 1.05 : 1] },
    },
    axes: [
      {
        stroke: text,
        font,
        size: 30,
        grid: { show: false },
        ticks: { show: false },
        space: 64,
        incrs: [1, 2, 7, 14, 30, 60, 90],
        values: (_plot, places) => places.map((place) => (current().dates[place] ? dayText.format(current().dates[place]) : "")),
      },
      {
        stroke: text,
        font,
        size: (_plot, texts) => 14 + 7 * Math.max(3, ...(texts ?? []).map((text) => text.length)),
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        incrs: host.dataset.chart === "outflows" ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6, 1e7] : undefined,
        values: (_plot, numbers) => numbers.map((number) => short.format(number)),
      },
    ],
    series: [
      {},
      {
        stroke: accent,
        fill: isLong ? soft : accent,
        width: isLong ? 1.5 : 0,
        points: { show: false },
        paths: isLong ? undefined : window.uPlot.paths.bars({ size: [0.7, 40], radius: 0.15 }),
      },
    ],
  };
}

/* What goes over the chart place by place. */
function places(plot, words) {
  return {
    count: () => plot.data[0].length,
    words,
    placeAt: (x) => plot.posToIdx(x - plot.over.getBoundingClientRect().left),
    show: (place) => {
      const left = place === null ? -10 : plot.valToPos(place, "x");
      plot.setCursor({ left, top: place === null ? -10 : 0 });
    },
  };
}

/* Draws a chart, and answers what draws it again: from the table as it then is, and in the colours as they then are. */
export function draw(host, table) {
  let state = read(table, host);
  const words = (place) => [state.days[place], state.texts[place]];
  const plot = new window.uPlot(options(host, () => state, words), plotted(state), host);
  const scrubber = scrub(host, places(plot, words));
  new ResizeObserver(() => {
    if (host.clientWidth > 0) plot.setSize({ width: host.clientWidth, height: HEIGHT });
  }).observe(host);
  return {
    update: (newTable) => {
      state = read(newTable, host);
      plot.setData(plotted(state));
      scrubber.tell();
    },
    // At once, since paper does not wait; with its data, since what is drawn keeps its colours as long as they are the same.
    redraw: () => plot.batch(() => plot.setData(plotted(state))),
  };
}
