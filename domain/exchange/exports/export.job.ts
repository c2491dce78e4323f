import Type, { type Static } from 'typebox';
import { POSITION_PATTERN } from '../../kernel/events/row-changes.ts';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { Choice, object, TypeKeys } from '../../kernel/shapes.ts';

/** The formats of the files of exports and extractions. */
export const exportFormats = ['csv', 'xlsx', 'ndjson', 'parquet'] as const;

/** The options of an export. Shared by the request and the job. */
export const ExportRequest = object({
  format: Choice(exportFormats),
  kind: Choice(['cards', 'relations', 'costs', 'data_flows'], { default: 'cards' }),
  types: TypeKeys('Card types (also for costs and data flows), or relation types for relations; none: all'),
  filter: Type.String({
    default: '',
    maxLength: 4000,
    description:
      'Which cards, in the filter language; relations, also those of costs, and data flows need both ends among them',
  }),
  columns: Type.Array(Type.String({ maxLength: 120 }), {
    default: [],
    maxItems: 500,
    description: 'Chosen columns in order; none: all of the profile',
  }),
  include: Type.Array(Choice(['relations', 'hierarchy']), {
    default: [],
    uniqueItems: true,
    description: 'Further sheets, for xlsx',
  }),
  profile: Choice(['report', 'roundtrip'], {
    default: 'report',
    description: '`roundtrip` contains exactly the columns that the import reads',
  }),
  neutralise: Type.Boolean({
    default: true,
    description: 'Guard CSV texts against being calculated by a spreadsheet',
  }),
  bom: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Begin CSV with a byte order mark, by which Excel recognises UTF-8',
    }),
  ),
  layout: Type.Optional(
    Choice(['combined', 'sheet_per_type'], {
      default: 'combined',
      description:
        'Of xlsx. `sheet_per_type`: a workbook to edit and to import again, with a sheet per card type and one of relations, drop-down lists, notes and protected ids; `profile` is `roundtrip`',
    }),
  ),
  headers: Type.Optional(
    Choice(['keys', 'labels'], {
      default: 'keys',
      description:
        'Whether a workbook with a sheet per type names columns, types and options by keys or labels',
    }),
  ),
  language: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$',
      examples: ['de'],
      description: 'Of labels and notes in such a workbook; default: that of `Accept-Language`',
    }),
  ),
  sort_by: Type.Optional(
    Type.String({
      maxLength: 500,
      examples: ['subtype,-data_quality'],
      description: 'The order of cards, as in the list of cards; default: by age. Not with `after`',
    }),
  ),
  sort_dir: Type.Optional(Choice(['asc', 'desc'], 'Of `sort_by`; further fields have `-` before them')),
  after: Type.Optional(
    Type.String({
      pattern: POSITION_PATTERN,
      examples: ['48213'],
      description:
        'A feed position, such as that of the previous export: only rows that may have changed since, and deleted ones',
    }),
  ),
});

export type ExportRequest = Static<typeof ExportRequest>;

/** Exports a part of the inventory to a file, from one snapshot; an interrupted run starts over. */
export const exportJob = defineJob({
  kind: 'export',
  queue: 'bulk',
  payload: ExportRequest,
  attempts: 3,
  retentionDays: 30,
  resumable: false,
});

/**
 * One run of an extraction schedule. Its file is created once and then delivered to its destination; an unavailable
 * destination is retried for about half an hour.
 */
export const scheduledExtractionJob = defineJob({
  kind: 'scheduled_extraction',
  queue: 'delivery',
  payload: object({ schedule_id: Type.String({ format: 'uuid' }) }),
  attempts: 12,
  longestWaitSeconds: 600,
  resumable: true,
});
