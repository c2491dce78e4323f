import { heading } from './charts.parts.ts';
import { formatValue, Labels } from './charts.text.ts';
import { FONT_SIZE, MARGIN, TEXT_COLOR, WIDTH } from './charts.theme.ts';
import type { ChartWorkspace, FiguresChart, Layout } from './charts.types.ts';

const IN_ROW = 4;
const HEIGHT = 84;
const DIGITS = 26;

/** Large numbers with a label below each. */
export function layoutFigures(chart: FiguresChart, workspace: ChartWorkspace): Layout {
  const labels = new Labels();
  const head = heading(chart, [], labels, WIDTH);
  const width = (WIDTH - 2 * MARGIN) / IN_ROW;
  const elements = chart.items.flatMap(({ name, value, unit, text: words }, index) => {
    const x = MARGIN + (index % IN_ROW) * width;
    const y = head.bottom + Math.floor(index / IN_ROW) * HEIGHT;
    const written = words ?? (value === null ? 'not known' : formatValue(value, unit, workspace));
    return [
      text(x, y, labels.fit(written, width - 12, DIGITS), DIGITS),
      text(x, y + DIGITS + 10, labels.fit(name, width - 12, FONT_SIZE), FONT_SIZE),
    ];
  });
  return {
    width: WIDTH,
    height: head.bottom + Math.ceil(chart.items.length / IN_ROW) * HEIGHT,
    shortened: labels.shortened,
    description: `${chart.items.length} figures`,
    option: { ...head.option, graphic: { elements } },
  };
}

const text = (x: number, y: number, words: string, fontSize: number) => ({
  type: 'text',
  silent: true,
  x,
  y,
  style: {
    text: words,
    fill: TEXT_COLOR,
    fontFamily: 'sans-serif',
    fontSize,
    fontWeight: fontSize === DIGITS ? 'bold' : 'normal',
  },
});
