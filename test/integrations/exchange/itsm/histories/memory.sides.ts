import type { Mapping, Value } from '../../../../../domain/exchange/itsm/mappings.types.ts';
import type { LocalCard, Path, Side } from '../../../../../integrations/exchange/itsm/engine/model.types.ts';
import type { RemoteRecord, RemoteTombstone } from '../../../../../integrations/exchange/itsm/remote.ts';
import { STEP_MS } from './landscape.ts';
import type { Sides } from './memory.port.ts';
import type { Setting } from './steps.ts';

/** The inventory and the remote in memory, with one clock. */
export function createSides(mapping: Mapping, setting: Setting): Sides {
  const cards = new Map<string, LocalCard>();
  const redirects = new Map<string, string>();
  const records = new Map<string, RemoteRecord>();
  const tombstones: RemoteTombstone[] = [];
  const column = new Map(mapping.fields.map(({ card_field: path, remote_field: remote }) => [path, remote]));
  let clock = Date.UTC(2026, 0, 1);
  let made = 0;

  const now = () => new Date(clock).toISOString();
  const tick = () => {
    clock += STEP_MS;
    return now();
  };
  const stored = (name: string, value: Value): Value =>
    setting.normalizesTexts && name === 'u_note' && typeof value === 'string' ? value.toLowerCase() : value;

  const writeRecord = (id: string, values: Record<string, Value>): RemoteRecord => {
    const record = records.get(id) ?? { table: mapping.remote_table, id, fields: {}, updatedAt: now() };
    for (const [name, value] of Object.entries(values))
      record.fields[name] = { value: stored(name, value) ?? '' };
    record.updatedAt = tick();
    records.set(id, record);
    return structuredClone(record);
  };
  const writeCard = (id: string, values: Record<Path, Value>): LocalCard => {
    const none = {
      id,
      type: mapping.card_type_key,
      archived: false,
      fields: {},
      inFilter: true,
      updatedAt: '',
    };
    const card = cards.get(id) ?? none;
    Object.assign(card.fields, values);
    card.updatedAt = tick();
    cards.set(id, card);
    return structuredClone(card);
  };
  const dropRecord = (id: string, mergedInto?: string) => {
    records.delete(id);
    tombstones.push({ table: mapping.remote_table, id, at: tick(), mergedInto });
  };
  const asColumns = (fields: Record<Path, Value>) =>
    Object.fromEntries(Object.entries(fields).map(([path, value]) => [column.get(path)!, value]));

  return {
    cards,
    redirects,
    records,
    tombstones,
    now,
    tick,
    writeRecord,
    writeCard,
    dropRecord,
    newId: (side) => {
      made += 1;
      return `${side === 'local' ? 'c' : 'r'}${String(made).padStart(3, '0')}`;
    },
    create(side, fields) {
      const id = this.newId(side);
      if (side === 'local') writeCard(id, fields);
      else writeRecord(id, asColumns(fields));
      return id;
    },
    edit(side, id, path, value) {
      if (side === 'local') writeCard(id, { [path]: value });
      else writeRecord(id, asColumns({ [path]: value }));
    },
    remove(side, id, forGood) {
      if (side === 'remote') dropRecord(id);
      else if (forGood) cards.delete(id);
      else cards.get(id)!.archived = true;
      tick();
    },
    restore(cardId) {
      cards.get(cardId)!.archived = false;
      tick();
    },
    merge(side: Side, from, into) {
      if (side === 'remote') {
        dropRecord(from, into);
        return;
      }
      cards.delete(from);
      redirects.set(from, into);
      tick();
    },
    objects(side) {
      if (side === 'local')
        return [...cards.values()]
          .filter(({ archived }) => !archived)
          .map(({ id, fields }) => ({ id, fields: { ...fields } }));
      return [...records.values()].map(({ id, fields }) => ({
        id,
        fields: Object.fromEntries(
          mapping.fields.map(({ card_field: path, remote_field: remote }) => [
            path,
            fields[remote]?.value || null,
          ]),
        ),
      }));
    },
  };
}
