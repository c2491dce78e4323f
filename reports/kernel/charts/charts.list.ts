import { isNarrow } from './charts.look.ts';
import { type Look, line, type Mark, type Picture, standingFor } from './charts.marks.ts';
import { heading, LABEL, label, labelAt, nothing, omittedNote, swatch, withNote } from './charts.parts.ts';
import { chartText } from './charts.texts.ts';
import type { ListChart } from './charts.types.ts';
import { textWidth } from './charts.widths.ts';

const ROW = 28;

/** A short table. */
export function layoutList(chart: ListChart, look: Look): Picture {
  const { margin, scheme, width } = look;
  const note = withNote(chart.note, omittedNote(look, chart.rows.length, chart.total ?? chart.rows.length));
  const head = heading(look, { title: chart.title, note });
  const description = chartText(look.workspace, 'list.description', {
    title: chart.title,
    count: chart.rows.length,
  });
  if (chart.rows.length === 0) {
    return {
      width,
      height: head.bottom + 40,
      marks: [...head.marks, nothing(look, head.bottom, chart.empty)],
      description,
    };
  }
  if (isNarrow(look)) return stacked(chart, look, head, description);
  const all = chart.columns.reduce((sum, { share }) => sum + share, 0);
  let x = margin;
  const columns = chart.columns.map((column) => {
    const wide = (column.share / all) * (width - 2 * margin);
    x += wide;
    return { ...column, left: x - wide, right: x, room: wide - 12 };
  });
  const top = head.bottom + 20;
  const cell = (
    { left, right, room, right: end }: (typeof columns)[number],
    isRight: boolean | undefined,
    y: number,
    text: string,
    fill: string,
    indent = 0,
  ) =>
    labelAt(look, isRight ? end : left + indent, y, text, {
      anchor: isRight ? 'end' : 'start',
      room: Math.min(room, right - left - 8) - indent,
      fill,
    });
  const heads = columns.map((column, at) =>
    label(look, chart.columns[at]!.right ? column.right : column.left, top - 8, column.name, {
      anchor: chart.columns[at]!.right ? 'end' : 'start',
      fill: scheme.text2,
      room: column.room,
    }),
  );
  const rows = chart.rows.flatMap(({ id, cells, paint }, row): Mark[] => {
    const y = top + row * ROW + ROW / 2;
    return standingFor(id, [
      line([margin, top + row * ROW], [width - margin, top + row * ROW], scheme.hairline),
      ...(paint ? [swatch(look, margin + 5, y, paint, 'dot')] : []),
      ...cells.map((text, at) =>
        cell(
          columns[at]!,
          chart.columns[at]!.right,
          y,
          text,
          at === 0 ? scheme.text : scheme.text2,
          paint && at === 0 ? 16 : 0,
        ),
      ),
    ]);
  });
  return {
    width,
    height: top + chart.rows.length * ROW + margin,
    marks: [...head.marks, ...heads, ...rows],
    description,
  };
}

const TALL = 44;

/** Rows of two lines, where columns have no room: the first cell above the others, with the last one at the right. */
function stacked(
  chart: ListChart,
  look: Look,
  { marks, bottom }: { marks: Mark[]; bottom: number },
  description: string,
): Picture {
  const { margin, scheme, width } = look;
  const room = width - 2 * margin;
  const figure = chart.columns.findLastIndex(({ right }) => right);
  const rows = chart.rows.flatMap(({ cells, paint }, row): Mark[] => {
    const y = bottom + row * TALL;
    const indent = paint ? 16 : 0;
    const value = figure > 0 ? cells[figure]! : '';
    const others = cells.filter((cell, at) => at > 0 && at !== figure && cell !== '–');
    return [
      line([margin, y], [width - margin, y], scheme.hairline),
      ...(paint ? [swatch(look, margin + 5, y + 14, paint, 'dot')] : []),
      labelAt(look, margin + indent, y + 14, cells[0]!, {
        room: room - indent - (value ? textWidth(value, LABEL) + 10 : 0),
      }),
      ...(value ? [labelAt(look, width - margin, y + 14, value, { anchor: 'end', fill: scheme.text2 })] : []),
      labelAt(look, margin + indent, y + 31, others.join(' · '), {
        room: room - indent,
        fill: scheme.text2,
        size: 11,
      }),
    ];
  });
  const height = bottom + chart.rows.length * TALL + margin;
  return { width, height, marks: [...marks, ...rows], description };
}
