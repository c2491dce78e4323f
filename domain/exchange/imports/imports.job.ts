import Type, { type Static } from 'typebox';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { Choice, object } from '../../kernel/shapes.ts';

const flag = (description: string, value: boolean) => Type.Boolean({ default: value, description });

/** The options of an import. Shared by the request and the job. */
export const importOptions = {
  kind: Choice(['cards', 'relations'], { default: 'cards' }),
  mode: Choice(
    ['create', 'upsert'],
    '`create` refuses rows that exist already, `upsert` changes those',
    'create',
  ),
  dry_run: flag('Report the outcome of each row without writing', false),
  atomic: flag('Write all rows or, if one fails, none', false),
  empty: Choice(['leave', 'clear'], 'What an empty CSV cell does: leave the value, or clear it', 'leave'),
  separator: Type.Optional(
    Type.Union(
      ['comma', 'semicolon', 'tab', ',', ';', '\t'].map((name) => Type.Literal(name)),
      { description: 'Of a CSV file, by name or as a character; absent: detected from its header' },
    ),
  ),
  report: Choice(
    ['failed', 'warnings', 'all'],
    'Which rows the report contains; `warnings`: those that failed or have warnings',
    'failed',
  ),
};

const Payload = object({
  ...importOptions,
  file_id: Type.String({ format: 'uuid' }),
  format: Choice(['csv', 'ndjson']),
});

/** The services and the job of an import. */
export type ImportPayload = Static<typeof Payload>;

/** Imports an uploaded file of cards or relations into the inventory. */
export const importJob = defineJob({
  kind: 'import',
  queue: 'bulk',
  payload: Payload,
  attempts: 3,
  resumable: true,
});
