import { type Look, line, type Mark, type Picture } from './charts.marks.ts';
import { heading, label, labelAt, nothing, omittedNote, swatch, withNote } from './charts.parts.ts';
import type { ListChart } from './charts.types.ts';

const ROW = 28;

/** A short table. */
export function layoutList(chart: ListChart, look: Look): Picture {
  const { margin, scheme, width } = look;
  const note = withNote(chart.note, omittedNote(chart.rows.length, chart.total ?? chart.rows.length));
  const head = heading(look, { title: chart.title, note });
  const description = `${chart.title}: ${chart.rows.length} rows.`;
  if (chart.rows.length === 0) {
    return {
      width,
      height: head.bottom + 40,
      marks: [...head.marks, nothing(look, head.bottom)],
      description,
    };
  }
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
  const rows = chart.rows.flatMap(({ cells, paint }, row): Mark[] => {
    const y = top + row * ROW + ROW / 2;
    return [
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
    ];
  });
  return {
    width,
    height: top + chart.rows.length * ROW + margin,
    marks: [...head.marks, ...heads, ...rows],
    description,
  };
}
