import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteRecord } from '../../remote.types.ts';
import type { RemoteValues } from '../connector.ts';
import type { Surely } from '../surely.ts';
import type { Transport } from '../transport.ts';
import type { ServiceNowConfig } from './config.ts';
import type { Reading } from './reading.ts';
import { CHANGES, recordOf, systemColumns } from './records.ts';

/** What every write works with. */
export interface WritingParts {
  transport: Transport;
  reading: Reading;
  config: ServiceNowConfig;
  surely: Surely;
}

/** Where a table's records are written; one of them where its key is given. */
export const pathOf = (table: string, id?: string): string =>
  `/api/now/v2/table/${encodeURIComponent(table)}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;

/** The query by which an answer shows these columns. */
export const answerWith = (fields: string[]) => () => ({
  sysparm_fields: [...new Set([...systemColumns, CHANGES, ...fields])].join(','),
  sysparm_display_value: 'all',
  sysparm_exclude_reference_link: 'true',
});

/** Values as the instance takes them: nothing is an empty text. */
export const textsOf = (values: RemoteValues): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === null ? '' : String(value)]),
  );

/** Reads the record that an answer to a write shows. */
export const recordFrom =
  (table: string, fields: string[]) =>
  (result: unknown): Result<RemoteRecord> => {
    const record = recordOf(table, result, fields);
    // the remote has answered, but shows nothing of what it has stored
    return record
      ? done(record)
      : failed('answer_lost', `table ${table}`, 'The answer to the write shows no record');
  };
