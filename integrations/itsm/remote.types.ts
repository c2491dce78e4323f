import type { Value } from '../../domain/exchange/itsm/mappings.types.ts';

/** A field as the remote tells it: what it stores, and what it shows people where that is something else. */
export interface RemoteField {
  value: Value;
  display?: string;
}

/** A row of a table outside, in the shape that every connector gives. */
export interface RemoteRecord {
  table: string;
  /** The remote's own key: never changes and is never given again. */
  id: string;
  fields: Record<string, RemoteField>;
  /** When the remote last changed it, by the remote's clock; RFC 3339. */
  updatedAt: string;
  /** What a write can be made to depend on, where the remote offers that and the record was looked at by itself. */
  version?: string;
  /** The remote keeps it but calls it deleted. */
  deleted?: boolean;
}

/** The remote's word that a record is gone. */
export interface RemoteTombstone {
  table: string;
  id: string;
  /** By the remote's clock; RFC 3339. */
  at: string;
  /** The record that has taken its place, where the remote knows of merges. */
  mergedInto?: string;
}
