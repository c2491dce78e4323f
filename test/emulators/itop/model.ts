import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** An attribute of a class, as far as it shows outside. */
export interface Attribute {
  kind: 'text' | 'integer' | 'date' | 'enum' | 'key' | 'links';
  /** Of an external key: the class that it leads to. */
  target?: string;
  /** Of links: their class, and the attribute of it that leads back. */
  links?: { class: string; back: string };
  values?: string[];
  mandatory?: boolean;
}

export interface ClassModel {
  parent?: string;
  abstract?: true;
  attributes: Record<string, Attribute>;
  /** The attribute that objects are called by, and ordered by where nothing else is asked. */
  name: string;
}

/** A part of the public data model, with its inheritance. */
export const model: Record<string, ClassModel> = parse(
  readFileSync(new URL('./model.yaml', import.meta.url), 'utf8'),
);

/** A class and those it extends, itself first. */
export function lineage(name: string): string[] {
  const parent = model[name]?.parent;
  return parent === undefined ? [name] : [name, ...lineage(parent)];
}

export const rootOf = (name: string): string => lineage(name).at(-1)!;

export const hasChildren = (name: string): boolean =>
  Object.values(model).some(({ parent }) => parent === name);

/** The attributes of a class, inherited ones first. */
export const attributesOf = (name: string): Record<string, Attribute> =>
  Object.assign(
    {},
    ...lineage(name)
      .reverse()
      .map((one) => model[one]!.attributes),
  );
