import { done, failed, type Result } from '../../remote.failures.ts';
import type { Connector, RemoteValues, Written } from '../connector.ts';
import { type Arrived, type Door, doorOf, entryBy } from './writing.doors.ts';
import { lookUpCreated } from './writing.lookup.ts';
import { answerWith, pathOf, recordFrom, textsOf, type WritingParts } from './writing.parts.ts';

/** What is to be made, under an id of ours. */
interface New {
  table: string;
  values: RemoteValues;
  correlation: string;
}

/** Makes records, each once, and finds them again by the id that they carry in the correlation column. */
export function createCreating(
  parts: WritingParts,
): Pick<Connector, 'create' | 'findCreated'> & Required<Pick<Connector, 'adopted'>> {
  const { config, reading } = parts;
  return {
    async create(table, values, correlation) {
      const door = doorOf(config, table);
      const made = { table, values, correlation };
      return door ? await createByDoor(parts, made, door) : await createByTable(parts, made);
    },
    findCreated: (table, correlation) => lookUpCreated(parts, table, correlation, []),
    async adopted(table, id) {
      if (!doorOf(config, table)) return done(false);
      const looks = await reading.readByIds(table, [id], []);
      if (!looks.ok) return looks;
      const look = looks.value.get(id);
      // a record that was there has at least been given the correlation id; where it is not told, it is not ours to remove
      return done(look?.kind !== 'there' || look.record.version !== '0');
    },
  };
}

async function createByTable(
  parts: WritingParts,
  { table, values, correlation }: New,
): Promise<Result<Written>> {
  const fields = Object.keys(values);
  const written = await parts.surely(
    {
      method: 'POST',
      path: pathOf(table),
      doing: `Creating a record of ${table}`,
      query: answerWith(fields),
      body: { ...textsOf(values), [parts.config.correlationField]: correlation },
    },
    () => lookUpCreated(parts, table, correlation, fields),
    recordFrom(table, fields),
  );
  return written.ok ? done({ record: written.value.value, recovered: written.value.recovered }) : written;
}

/** Doors find a record again by themselves: sending twice does nothing twice. */
async function createByDoor(
  parts: WritingParts,
  { table, values, correlation }: New,
  door: Door,
): Promise<Result<Written>> {
  const texts = { ...textsOf(values), [parts.config.correlationField]: correlation };
  const { call, read } = entryBy(door, { table, values: texts, correlation, mask: parts.transport.mask });
  const fields = Object.keys(values);
  const written = await parts.surely<Arrived>(
    call,
    async () => {
      const found = await lookUpCreated(parts, table, correlation, fields);
      return found.ok ? done(found.value ? { id: found.value.id } : null) : found;
    },
    read,
  );
  if (!written.ok) return written;
  const { id, ...arrived } = written.value.value;
  const looks = await parts.reading.readByIds(table, [id], fields);
  if (!looks.ok) return looks;
  const look = looks.value.get(id);
  if (look?.kind !== 'there') {
    const what = `${call.doing} was done, but the record is not shown to the account`;
    return failed('not_found', call.path, what);
  }
  return done({ record: look.record, recovered: written.value.recovered, ...arrived });
}
