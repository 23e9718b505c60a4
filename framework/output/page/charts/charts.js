// What report.js uses of the libraries. In this directory, `npm ci && npm run build`
// makes ../assets/charts.min.js of it.
import { areaY, axisX, axisY, cell, dot, gridX, gridY, line as lines, lineY, plot, ruleX, ruleY, text } from "@observablehq/plot";
import { area, create, extent, groups, interpolateViridis, line, quantileSorted, range, scaleSequential, select, symbol, ticks } from "d3";

globalThis.Plot = { areaY, axisX, axisY, cell, dot, gridX, gridY, line: lines, lineY, plot, ruleX, ruleY, text };
globalThis.d3 = { area, create, extent, groups, interpolateViridis, line, quantileSorted, range, scaleSequential, select, symbol, ticks };
