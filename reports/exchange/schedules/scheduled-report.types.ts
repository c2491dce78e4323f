import Type, { type Static } from 'typebox';
import { pictureOptions } from '../../../domain/inventory/reports/report.options.ts';
import { Choice, OptionalText, object, Uuid } from '../../../domain/kernel/shapes.ts';
import type { ChartUnit } from '../../kernel/charts/charts.types.ts';

/** A saved report that is delivered by a schedule. */
export const ScheduledReport = object({
  saved_report_id: Uuid,
  format: Choice(['csv', 'xlsx', 'svg', 'png', 'pdf', 'pptx'], {
    description:
      'Of the file; a dashboard has a page, slide or sheet for each of its tiles, and one tile in `csv`',
  }),
  table: OptionalText(
    100,
    'The table of the report, or the title of the tile, that CSV contains; default: the main table, the first tile',
  ),
  language: Type.Optional(
    Type.Literal('de', {
      description: 'Of pictures, headers of workbooks, and the mail; default: English, in workbooks keys',
    }),
  ),
  ...pictureOptions,
});
export type ScheduledReport = Static<typeof ScheduledReport>;

/** A key figure that a mail names. */
export interface KeyFigure {
  /** Tells it apart in all languages. */
  key: string;
  name: string;
  value: number;
  unit: ChartUnit;
}
