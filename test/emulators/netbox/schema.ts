import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** A column of an object type; references are stored as numbers and shown nested. */
interface Column {
  type: 'string' | 'integer' | 'decimal' | 'boolean' | 'choice' | 'reference' | 'tags' | 'json';
  required?: boolean;
  target?: string;
  choices?: Record<string, string>;
  maxLength?: number;
}

export interface ObjectType {
  /** Such as `dcim.device`. */
  name: string;
  columns: Record<string, Column>;
}

/** A part of the object types, by endpoint. */
export const schema: Record<string, ObjectType> = parse(
  readFileSync(new URL('./schema.yaml', import.meta.url), 'utf8'),
);
