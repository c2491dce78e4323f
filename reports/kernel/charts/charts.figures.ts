import { isNarrow } from './charts.look.ts';
import type { Look, Mark, Picture } from './charts.marks.ts';
import { formatValue } from './charts.numbers.ts';
import { heading, LABEL, label, nothing, paragraph } from './charts.parts.ts';
import { wrap } from './charts.text.ts';
import { chartText } from './charts.texts.ts';
import { radius, type, weight } from './charts.tokens.ts';
import type { FiguresChart } from './charts.types.ts';

const GAP = 12;
const PAD = 14;

/** Large numbers, each with its label and what it is compared with. */
export function layoutFigures(chart: FiguresChart, look: Look): Picture {
  const { margin, scheme, workspace } = look;
  // the title of the panels says what the figures are about
  const head = look.isPanel ? { marks: [], bottom: margin } : heading(look, chart);
  const description = chart.items
    .slice(0, 8)
    .map(
      ({ name, value, unit, text }) =>
        `${name}: ${text ?? (value === null ? chartText(workspace, 'figures.unknownWithin') : formatValue(value, unit, workspace))}`,
    )
    .join('; ');
  if (chart.items.length === 0) {
    return {
      width: look.width,
      height: head.bottom + 40,
      marks: [...head.marks, nothing(look, head.bottom)],
      description: chart.title,
    };
  }
  const inRow = Math.min(isNarrow(look) ? 2 : 4, Math.max(1, chart.items.length));
  const width = (look.width - 2 * margin - (inRow - 1) * GAP) / inRow;
  const room = width - 2 * PAD;
  const hints = chart.items.map(({ hint }) =>
    hint === undefined ? [] : wrap(hint, room, LABEL, 2, weight.regular, workspace),
  );
  const names = chart.items.map(({ name }) => wrap(name, room, LABEL, 2, weight.regular, workspace).length);
  // figures of a row are aligned below the longest name
  const below = (Math.max(...names) - 1) * 16;
  const height = 76 + below + Math.max(...hints.map(({ length }) => (length === 0 ? 0 : 2 + length * 16)));
  const marks = chart.items.flatMap(({ name, value, unit, text, hint, tone }, at): Mark[] => {
    const x = margin + (at % inRow) * (width + GAP);
    const y = head.bottom + 4 + Math.floor(at / inRow) * (height + GAP);
    const written =
      text ??
      (value === null ? chartText(workspace, 'figures.unknown') : formatValue(value, unit, workspace));
    return [
      {
        kind: 'rect',
        x,
        y,
        width,
        height,
        radius: radius.panel,
        fill: scheme.panel,
        stroke: scheme.hairlineStrong,
      },
      ...paragraph(look, x + PAD, y + 24, name, { fill: scheme.text2, room, most: 2 }),
      label(look, x + PAD, y + 56 + below, written, {
        size: type.greeting.size,
        weight: weight.title,
        room,
        fill: tone
          ? scheme.tones[tone].ink
          : value === null && text === undefined
            ? scheme.text3
            : scheme.text,
      }),
      ...(hint === undefined
        ? []
        : paragraph(look, x + PAD, y + 78 + below, hint, { fill: scheme.text2, room, most: 2 })),
    ];
  });
  const rows = Math.ceil(chart.items.length / inRow);
  return {
    width: look.width,
    height: head.bottom + 4 + rows * (height + GAP) - GAP + margin,
    marks: [...head.marks, ...marks],
    description: `${description}.`,
  };
}
