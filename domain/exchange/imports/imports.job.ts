import Type, { type Static } from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { Choice, OptionalText, object } from '../../kernel/shapes.ts';

const flag = (description: string, value: boolean) => Type.Boolean({ default: value, description });

/** How a FOCUS file is read as costs. */
export const focusOptions = {
  profile: Type.Optional(
    Type.Enum(['focus'], {
      description: 'The file is a cost and usage file of FOCUS 1.x as CSV; only for costs',
    }),
  ),
  card_column: OptionalText(
    200,
    'Of a FOCUS file: the column that names the card, such as `ResourceId`, or `Tags.<key>` for a tag; required',
  ),
  card_by: Type.Optional(Choice(['external_id', 'name'], 'Whether it contains the external id or the name')),
  card_type: OptionalText(100, 'The type of these cards; absent: any'),
  cost_kind: OptionalText(100, 'The kind of the costs; `infrastructure` by default'),
  amount_column: Type.Optional(
    Choice(['BilledCost', 'EffectiveCost'], 'The column with the amounts; `BilledCost` by default'),
  ),
  source: OptionalText(100, 'The first part of the external ids of the costs; `focus` by default'),
};

/** The options of an import. Shared by the request and the job. */
export const importOptions = {
  kind: Choice(['cards', 'relations', 'costs', 'data_flows'], { default: 'cards' }),
  ...focusOptions,
  mode: Choice(
    ['create', 'upsert'],
    '`create` refuses rows that exist already, `upsert` changes those',
    'create',
  ),
  dry_run: flag('Report the outcome of each row without writing', false),
  atomic: flag('Write all rows or, if one fails, none', false),
  empty: Choice(
    ['leave', 'clear'],
    'What an empty cell of CSV or XLSX does: leave the value, or clear it',
    'leave',
  ),
  separator: Type.Optional(
    Type.Union(
      ['comma', 'semicolon', 'tab', ',', ';', '\t'].map((name) => Type.Literal(name)),
      { description: 'Of a CSV file, by name or as a character; absent: detected from its header' },
    ),
  ),
  sheet: OptionalText(
    100,
    'Of a workbook: the sheet to read; absent: those that exports name after the kind, and for cards those with names of their own',
  ),
  create_tags: Type.Optional(
    flag(
      'Create the tags of known groups that rows of cards name and that do not exist; needs tags.manage',
      false,
    ),
  ),
  report: Choice(
    ['failed', 'warnings', 'changes', 'all'],
    'Which rows the report contains; `warnings`: those that failed or have warnings; `changes`: those that failed or change something, with the old and new value of each field',
    'failed',
  ),
};

const Payload = object({
  ...importOptions,
  file_id: Type.String({ format: 'uuid' }),
  format: Choice(['csv', 'ndjson', 'xlsx']),
});

/** The services and the job of an import. */
export type ImportPayload = Static<typeof Payload>;

/** Imports an uploaded file of cards, relations, costs or data flows into the inventory. */
export const importJob = defineJob({
  kind: 'import',
  queue: 'bulk',
  payload: Payload,
  attempts: 3,
  resumable: true,
});
