import Type, { type Static } from 'typebox';
import { Choice, optional } from '../../kernel/shapes.ts';

/** The output formats of a report or query. */
export const ReportFormat = Choice(['json', 'csv', 'xlsx', 'svg', 'png', 'pdf', 'pptx', 'chart']);

export type ReportFormat = Static<typeof ReportFormat>;

const pictures = ['svg', 'png', 'pdf', 'pptx', 'chart'] as const;
/** The formats that are pictures, pages and slides with them, or the data of one, from which browsers draw it. */
export type PictureFormat = (typeof pictures)[number];
export const isPicture = (format: string): format is PictureFormat =>
  pictures.some((picture) => picture === format);

/** The languages that pictures have besides English. */
export const pictureLanguages = ['de'] as const;
type PictureLanguage = (typeof pictureLanguages)[number];

/** The options of a picture that a job draws: the language is that of the request. */
export const drawingOptions = { language: Type.Optional(Choice(pictureLanguages)) };

/** How a picture is drawn. */
export const pictureOptions = optional({
  theme: Choice(['light', 'dark'], { description: 'Colours of a picture; default: light' }),
  width: Type.Integer({
    minimum: 320,
    maximum: 2_400,
    description:
      'Width of a picture in CSS pixels, default 1200; PNG has two pixels for each, or fewer if it is very high',
  }),
});
export interface PictureOptions {
  /** Of its texts, numbers and dates; default: English. */
  language?: PictureLanguage | undefined;
  theme?: 'light' | 'dark' | undefined;
  width?: number | undefined;
}

/** Options of jobs that write a result to a file and can be repeated. */
export const reportJobOptions = {
  queue: 'bulk',
  attempts: 3,
  retentionDays: 30,
  resumable: false,
} as const;
