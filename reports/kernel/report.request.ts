import type { Fragment } from '../../domain/kernel/lists/lists.types.ts';
import type { Report } from './report.ts';

/** A validated request for a report. */
export interface ReportRequest {
  report: Report;
  params: Record<string, unknown>;
  /** Condition of the cards, from `reportCards`. */
  cards: Fragment;
  filtered: boolean;
  /** A time in the past; absent: now. */
  asOf?: Date;
  /** Set if only a chart is rendered, for which the report may omit rows of a very large result. */
  forPicture?: true;
}
