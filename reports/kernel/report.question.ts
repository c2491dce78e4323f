import type { Fragment } from '../../domain/kernel/lists/lists.types.ts';
import type { Report } from './report.ts';

/** One question: a report with all that the request decides. */
export interface ReportQuestion {
  report: Report;
  params: Record<string, unknown>;
  /** From `reportCards`. */
  cards: Fragment;
  filtered: boolean;
  /** A time in the past; absent: now. */
  asOf?: Date;
  /** Only a picture is made of an answer that may be too large to be held. */
  forPicture?: true;
}
