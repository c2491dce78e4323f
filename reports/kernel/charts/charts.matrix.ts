import { axis, heading, namesAxis, omittedNote, widthOfNames, withNote } from './charts.parts.ts';
import { shadeScale } from './charts.shades.ts';
import { axisTitle, formatValue, Labels, textWidth } from './charts.text.ts';
import { FONT_SIZE, MARGIN, textColorOn, WIDTH } from './charts.theme.ts';
import type { ChartWorkspace, Layout, MatrixChart } from './charts.types.ts';

const MOST = 200;
/** Pixels of a cell with and without a number. */
const CELL = { wide: 56, narrow: 20, height: 22 };
const LABEL = 240;

/** One cell per pair; column names are rotated to fit above narrow columns. */
export function layoutMatrix(chart: MatrixChart, workspace: ChartWorkspace): Layout {
  const labels = new Labels();
  const rows = chart.rows.slice(0, MOST).map((name) => labels.fit(name, LABEL, FONT_SIZE));
  const columns = chart.columns.slice(0, MOST).map((name) => labels.fit(name, LABEL, FONT_SIZE));
  const cells = chart.cells.filter(([row, column]) => row < rows.length && column < columns.length);
  const numbers = columns.length <= 14 && new Set(cells.map(([, , value]) => value)).size > 1;
  const shades = shadeScale(
    cells.map(([, , value]) => value),
    (value) => formatValue(value, chart.unit, workspace),
    chart.unit === 'count',
  );
  const left = widthOfNames(rows);
  const upright = 36 + Math.max(20, ...columns.map((name) => textWidth(name, FONT_SIZE)));
  const wanted = columns.length * (numbers ? CELL.wide : CELL.narrow);
  const width = Math.max(WIDTH, left + wanted + MARGIN);
  const note = withNote(
    chart.note ?? `Shade: ${axisTitle(chart.valueAxis, chart.unit, workspace)}`,
    withNote(omittedNote(rows.length, chart.rows.length), omittedNote(columns.length, chart.columns.length)),
  );
  const legend = numbers || shades.legend.length > 1 ? shades.legend : [];
  const head = heading({ title: chart.title, note }, legend, labels, width);
  const top = head.bottom + upright;
  // without rows or columns one empty cell is drawn to show the axes
  const body = Math.max(1, rows.length) * CELL.height;
  return {
    width,
    height: top + body + MARGIN,
    shortened: labels.shortened,
    description: `Cells of ${chart.valueAxis} for ${chart.rows.length} rows and ${chart.columns.length} columns`,
    option: {
      ...head.option,
      grid: {
        outerBoundsMode: 'none',
        left,
        top,
        width: Math.max(wanted, Math.min(width - left - MARGIN, columns.length * CELL.wide)),
        height: body,
      },
      xAxis: axis(chart.columnAxis, upright - 16, {
        type: 'category',
        position: 'top',
        data: columns,
        axisLabel: { interval: 0, rotate: 90 },
      }),
      yAxis: namesAxis(chart.rowAxis, rows, left),
      series: [
        {
          type: 'heatmap',
          data: cells.map(([row, column, value]) => {
            const color = shades.of(value);
            return {
              value: [column, row, value],
              itemStyle: { color, borderColor: '#ffffff', borderWidth: 1 },
              label: {
                show: numbers,
                color: textColorOn(color),
                fontFamily: 'sans-serif',
                fontSize: FONT_SIZE,
                formatter: () => formatValue(value, chart.unit, workspace),
              },
            };
          }),
        },
      ],
      // the data contains the colours, but a heat map requires a visual map
      visualMap: {
        show: false,
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
        inRange: { opacity: [1, 1] },
        dimension: 2,
      },
    },
  };
}
