"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const chart = $("chart");
  if (!data.environments.length) return;

  // One entry an agent: whether it is shown, and where its value is written.
  const rows = data.agents.map((agent, i) => {
    const label = document.createElement("label");
    const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: true });
    const line = document.createElementNS("http" + "://www.w3.org/2000/svg", "svg");
    const name = Object.assign(document.createElement("span"), { className: "name", textContent: agent });
    const value = document.createElement("output");
    line.setAttribute("width", "30");
    line.setAttribute("height", "12");
    line.setAttribute("aria-hidden", "true");
    label.append(box, line, name, value);
    $("list").append(label);
    box.addEventListener("change", draw);
    return { box, line, value, i };
  });

  const pick = (select, items) => {
    const before = select.value;
    select.replaceChildren(...items.map((x) => new Option(x.title, x.id)));
    if (items.some((x) => x.id === before)) select.value = before;
  };
  pick($("environment"), data.environments.map((e, i) => ({ id: String(i), title: e.name })));
  $("log").checked = data.log;

  const dark = () => root.dataset.theme === "dark";
  const color = (i) => {
    const c = data.colors[i % data.colors.length];
    return dark() && c === "#000000" ? "#f0f0f0" : dark() && c === "#0072b2" ? "#3fa3e0" : c;
  };
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const dash = (i) => data.dashes[i % data.dashes.length];
  const show = (v) => {
    if (v == null) return "–";
    const a = Math.abs(v);
    return a >= 1e7 || (a > 0 && a < 1e-4) ? v.toExponential(3) : v.toLocaleString("en", { minimumSignificantDigits: 4, maximumSignificantDigits: a >= 1e4 ? 6 : 4 });
  };
  // Short tick labels: digits as the distance of ticks needs, powers of ten where long.
  const ticks = (u, vs) => {
    const some = vs.filter((v) => v != null);
    const top = Math.max(...some.map(Math.abs), 0);
    const gap = some.length > 1 ? Math.min(...some.slice(1).map((v, k) => Math.abs(v - some[k]))) : 1;
    const digits = Math.min(10, Math.max(0, -Math.floor(Math.log10(gap || 1) + 1e-9)));
    return vs.map((v) => v == null ? "" : top >= 1e7 ? (v === 0 ? "0" : v.toExponential().replace("e+", "e"))
      : v.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: v === 0 ? 0 : digits }));
  };
  // On a logarithmic axis only powers of ten are labelled, if there are two.
  const isPower = (v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-6;
  const labelled = (u, vs) => vs.filter(isPower).length < 2 ? vs : vs.map((v) => isPower(v) ? v : null);
  const powers = (u, vs) => vs.map((v) => v == null ? "" : v >= 1e7 && isPower(v) ? "1e" + Math.round(Math.log10(v)) : v.toLocaleString("en"));

  let plot = null, metric = null;

  function write(k) {
    const last = data.steps.length - 1;
    const at = k == null ? last : k;
    $("at").textContent = (k == null ? "Values at the last step, " : "Values at step ") + data.steps[at].toLocaleString("en");
    for (const r of rows) {
      const l = metric.lines[r.i];
      r.value.textContent = l ? show(l.y[at]) : "–";
    }
  }

  // The range of the lines between two points, and of bands up to the lines' own
  // height beyond them.
  function range(first, last) {
    let lo = Infinity, hi = -Infinity, low = Infinity, high = -Infinity;
    for (const r of rows) {
      const l = metric.lines[r.i];
      if (!l || !r.box.checked) continue;
      for (let k = first; k <= last; k++) {
        const y = l.y[k];
        if (y == null) continue;
        lo = Math.min(lo, y); hi = Math.max(hi, y);
        if (l.low[k] != null && l.high[k] != null && $("bands").checked) { low = Math.min(low, l.low[k]); high = Math.max(high, l.high[k]); }
      }
    }
    if (lo > hi) return [0, 1];
    const height = hi - lo;
    if (metric.optimum != null) { lo = Math.min(lo, metric.optimum); hi = Math.max(hi, metric.optimum); }
    if (height > 0) { lo = Math.min(lo, Math.max(low, lo - height)); hi = Math.max(hi, Math.min(high, hi + height)); }
    else { lo = Math.min(lo, low); hi = Math.max(hi, high); }
    const pad = hi > lo ? 0.03 * (hi - lo) : Math.max(Math.abs(lo) * 0.05, 0.5);
    return [lo - pad, hi + pad];
  }

  function draw() {
    const env = data.environments[Number($("environment").value)];
    pick($("metric"), env.metrics);
    metric = env.metrics.find((m) => m.id === $("metric").value);
    $("meaning").textContent = metric.text;
    if (plot) plot.destroy();

    const series = [{}], columns = [data.steps], bands = [];
    const shown = rows.filter((r) => {
      r.box.disabled = !metric.lines[r.i];
      drawSample(r);
      return !r.box.disabled && r.box.checked;
    });
    if ($("bands").checked) for (const r of shown) { // first: no band over a line
      const none = { width: 0, points: { show: false }, stroke: "transparent" };
      series.push(none, none);
      columns.push(metric.lines[r.i].high, metric.lines[r.i].low);
      bands.push({ series: [series.length - 2, series.length - 1], fill: color(r.i) + (rows.length > 5 ? "22" : "33") });
    }
    for (const r of shown) {
      series.push({ label: data.agents[r.i], stroke: color(r.i), width: 2, dash: dash(r.i), points: { show: false } });
      columns.push(metric.lines[r.i].y);
    }
    if (metric.optimum != null) {
      series.push({ label: "optimum", stroke: css("--soft"), width: 1, dash: [2, 3], points: { show: false } });
      columns.push(data.steps.map(() => metric.optimum));
    }
    const axis = { stroke: css("--ink"), grid: { stroke: css("--rule"), width: 1 }, ticks: { stroke: css("--rule") }, font: "13px system-ui, sans-serif", labelFont: "13px system-ui, sans-serif", labelGap: 4 };
    const log = $("log").checked;
    const width = chart.clientWidth;
    plot = new uPlot({
      padding: [10, 34, 0, 0],
      width, height: Math.max(320, Math.min(480, width * 0.58)),
      series, bands,
      scales: { x: log ? { time: false, distr: 3, log: 10, range: (u, min, max) => [min, max] } : { time: false }, y: { range: (u) => range(...(u.series[0].idxs ?? [0, data.steps.length - 1])) } },
      axes: [
        log ? { ...axis, label: "steps", values: powers, filter: labelled, grid: { ...axis.grid, filter: labelled }, size: 34, labelSize: 20 }
          : { ...axis, label: "steps", values: ticks, size: 34, labelSize: 20 },
        { ...axis, label: metric.axis, values: ticks, size: (u, vs) => 16 + 7.5 * Math.max(0, ...(vs || []).map((v) => v.length)), labelSize: 24 },
      ],
      cursor: { drag: { x: true, y: false }, points: { size: 6 } },
      legend: { show: false },
      hooks: { setCursor: [(u) => write(u.cursor.idx)] },
    }, columns, chart);
    chart.setAttribute("aria-label", `Curves of ${metric.title} over steps in ${env.name}, ${shown.length} agents. The tables hold the final values.`);
    write(null);
  }

  function drawSample(r) {
    const ns = r.line.namespaceURI;
    const l = document.createElementNS(ns, "line");
    const attributes = { x1: 0, y1: 6, x2: 30, y2: 6, stroke: color(r.i), "stroke-width": 3, "stroke-dasharray": dash(r.i).join(" ") };
    for (const [k, v] of Object.entries(attributes)) if (v !== "") l.setAttribute(k, v);
    r.line.replaceChildren(l);
  }

  for (const id of ["environment", "metric", "bands", "log"]) $(id).addEventListener("change", draw);
  const all = (on) => { rows.forEach((r) => { r.box.checked = on; }); draw(); };
  $("all").addEventListener("click", () => all(true));
  $("none").addEventListener("click", () => all(false));

  const theme = (name) => {
    root.dataset.theme = name;
    $("theme").textContent = name === "dark" ? "Light colours" : "Dark colours";
    draw();
  };
  $("theme").addEventListener("click", () => theme(dark() ? "light" : "dark"));

  $("copy").addEventListener("click", async () => {
    const text = $("command").textContent;
    try {
      await navigator.clipboard.writeText(text);
      $("copy").textContent = "Copied";
    } catch {
      getSelection().selectAllChildren($("command"));
    }
  });

  // Names that would fill a narrow column go below the chart.
  document.querySelector(".stage").classList.toggle("wide", data.agents.length > 14 || data.agents.some((a) => a.length > 30));
  theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  let width = chart.clientWidth;
  new ResizeObserver(() => {
    if (chart.clientWidth !== width) { width = chart.clientWidth; draw(); }
  }).observe(chart);
})();
