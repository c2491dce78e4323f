import type { RemoteRecord } from '../remote.types.ts';
import type { Evidence, Pair } from './book.types.ts';
import type { Mapping } from './mapping.types.ts';
import type { RemoteReading } from './observation.types.ts';

/** What a run knows of a record. */
export type Fate =
  | { kind: 'there'; record: RemoteRecord }
  /** Not changed since it was last read. */
  | { kind: 'unread' }
  /** It is there, but no longer among what the mapping reads. */
  | { kind: 'outside' }
  /** A reading should have shown it and did not; that alone proves nothing. */
  | { kind: 'missing'; absences: number; reason: string }
  /** It is in the table of another class, which the mapping does not read. */
  | { kind: 'reclassified'; to: string }
  /** `decided`: a person has said that its counterpart goes. */
  | { kind: 'gone'; evidence: Evidence; mergedInto?: string; decided?: true };

/** A reading by key, so that each record is found at once. */
export interface ReadingIndex {
  reading: RemoteReading;
  records: Map<string, RemoteRecord>;
  tombstones: Map<string, { at: string; mergedInto?: string }>;
}

/** Orders a reading by key; of a record that was read more than once the newest state counts. */
export function indexReading(reading: RemoteReading): ReadingIndex {
  const records = new Map<string, RemoteRecord>();
  for (const record of reading.records) {
    const other = records.get(record.id);
    if (!other || other.updatedAt <= record.updatedAt) records.set(record.id, record);
  }
  return { reading, records, tombstones: new Map(reading.tombstones.map((one) => [one.id, one])) };
}

/** A record that a reading or a look has shown. */
export function recordIn({ reading, records }: ReadingIndex, id: string): RemoteRecord | undefined {
  const look = reading.looks.get(id);
  return records.get(id) ?? (look?.kind === 'there' ? look.record : undefined);
}

/** Whether the reading has found a record to be deleted: no reference to it is written. */
export function isCalledGone({ reading, records, tombstones }: ReadingIndex, id: string): boolean {
  const look = reading.looks.get(id);
  if (look?.kind === 'gone') return look.reclassified === undefined;
  return (look?.kind !== 'there' && tombstones.has(id)) || records.get(id)?.deleted === true;
}

/**
 * What has become of a pair's record. It is gone only after a tombstone, a look at it, or several complete readings
 * without it; a reading with a filter proves nothing, since the record may only no longer fit.
 */
export function fateOf(pair: Pair, mapping: Mapping, index: ReadingIndex): Fate {
  const { reading, records, tombstones } = index;
  const record = records.get(pair.remoteId);
  const tombstone = tombstones.get(pair.remoteId);
  const look = reading.looks.get(pair.remoteId);
  if (look?.kind === 'gone' && look.reclassified !== undefined)
    return { kind: 'reclassified', to: look.reclassified };
  if (look?.kind === 'gone' || record?.deleted)
    return gone(look && !tombstone ? 'look' : 'tombstone', tombstone);
  if (look?.kind === 'there') {
    return mapping.filtered && !record ? { kind: 'outside' } : { kind: 'there', record: look.record };
  }
  if (record && !tombstone) return { kind: 'there', record };
  const { absences } = pair;
  const present = reading.present?.has(pair.remoteId);
  if (tombstone && (record || present)) {
    return { kind: 'missing', absences, reason: 'the remote both shows it and calls it deleted' };
  }
  if (tombstone) return gone('tombstone', tombstone);
  if (reading.kind !== 'complete' || present) return { kind: 'unread' };
  const enough = mapping.deletion.completeReads;
  if (mapping.filtered || enough === 0) {
    return { kind: 'missing', absences, reason: 'the reading is without it, which proves nothing' };
  }
  // a look at this point has not been answered: it says neither that the record is there nor that it is not
  const readings = absences + 1;
  if (readings >= enough) return gone('readings', undefined);
  return { kind: 'missing', absences: readings, reason: `${readings} complete readings were without it` };
}

function gone(evidence: Evidence, tombstone: { mergedInto?: string } | undefined): Fate {
  return { kind: 'gone', evidence, mergedInto: tombstone?.mergedInto };
}
