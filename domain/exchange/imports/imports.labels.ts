import { textsOf } from '../../kernel/metamodel/languages.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { lifecyclePhases, type Translations } from '../../kernel/metamodel/metamodel.types.ts';
import { columnsOf, fold } from '../../kernel/transfer/columns.ts';
import { readBoolean } from '../../kernel/transfer/csv-cells.ts';
import columnLabels from './imports.column-labels.json' with { type: 'json' };

/** Columns that exports show beside those with ids, and that workbooks may bring back: nothing of them is imported. */
export const shownColumns: Readonly<Record<'cards' | 'relations', ReadonlySet<string>>> = {
  cards: new Set(),
  relations: new Set(['source_name', 'source_type', 'target_name', 'target_type']),
};

interface ColumnTexts {
  en: string;
  de: string;
  /** What else headers call it. */
  also?: string[];
}
const columnTexts: Readonly<Record<string, ColumnTexts>> = columnLabels;

/** The label of a column that is no attribute, such as `external_id`, in a language of the product. */
export function columnLabel(name: string, language: string): string | undefined {
  const labels = columnTexts[name];
  return language.startsWith('de') ? labels?.de : labels?.en;
}

/**
 * Finds keys by labels in any language of the metamodel. A key finds itself; a label that several keys have finds one only with
 * its key: `Label (key)`.
 */
export interface Labels {
  /**
   * The column with this header: an attribute or another column by its label, or by its name written in another way.
   * @param taken columns that other headers mean: of several with this header, one of the others is meant.
   */
  column(header: string, taken?: ReadonlySet<string>): string | undefined;
  type(label: string): string | undefined;
  /** The subtype of a card type. */
  subtype(type: string | undefined, label: string): string | undefined;
  /** The attribute of a type with this label. */
  attribute(type: string | undefined, label: string): string | undefined;
  /** The option of an attribute of a type. */
  option(type: string | undefined, attribute: string, label: string): string | undefined;
}

interface Labelled {
  key: string;
  label: string;
  translations?: Translations;
}

/** The form in which labels are compared. */
const plain = (text: string): string => fold(text.normalize('NFKC'));

type Find = (text: string) => string | undefined;

/**
 * What names a key in a file of labels so that `find` returns it again: its label, `Label (key)` if others have the label too,
 * or the key.
 */
export const labelOrKey = (find: Find, key: string, label: string): string =>
  [label, `${label} (${key})`].find((text) => find(text) === key) ?? key;

/** `Label (key)`, by which exports tell items of one label apart. */
const withKey = /^(.*) \(([^()\s]+)\)$/s;

/** Finds the keys of items. */
function finderOf(items: readonly Labelled[]): Find {
  const found = new Map<string, string>();
  const ambiguous = new Set<string>();
  const labelled = new Set<string>();
  for (const item of items) {
    // a key in another case could be meant as well
    for (const text of [item.key, ...textsOf(item.label, item.translations)]) {
      const label = plain(text);
      labelled.add(`${item.key} ${label}`);
      if (label === '') continue;
      if ((found.get(label) ?? item.key) !== item.key) ambiguous.add(label);
      found.set(label, item.key);
    }
  }
  for (const label of ambiguous) found.delete(label);
  const keys = new Set(items.map(({ key }) => key));
  return (text) => {
    const given = text.trim();
    if (keys.has(given)) return given;
    const [, label = '', key = ''] = (given.endsWith(')') && withKey.exec(given)) || [];
    return labelled.has(`${key} ${plain(label)}`) ? key : found.get(plain(text));
  };
}

/** Builds on first use what most files never need. */
function lazily<T>(build: () => T): () => T {
  let built: T | undefined;
  return () => {
    built ??= build();
    return built;
  };
}

/** The labels of the visible types that a kind of file names, their attributes and options. */
export function labelsOf(metamodel: Metamodel, kind: 'cards' | 'relations' | 'costs' | 'data_flows'): Labels {
  const types =
    kind === 'relations'
      ? metamodel.visibleRelationTypes.map((key) => metamodel.relationTypes.get(key)!)
      : metamodel.visibleTypes.map((key) => metamodel.cardTypes.get(key)!);
  const declared = types.map((type) => ({
    type,
    fields:
      'fields_schema' in type ? type.fields_schema.flatMap(({ fields }) => fields) : type.attributes_schema,
  }));
  const ofTypes = lazily(() => finderOf(types as readonly Labelled[]));
  const ofFields = lazily(() => finderOf(declared.flatMap(({ fields }) => fields as readonly Labelled[])));
  // costs and data flows have no columns but their own
  const columns = kind === 'cards' || kind === 'relations' ? columnsOf[kind] : [];
  const phases = kind === 'cards' ? lifecyclePhases.map((phase) => `lifecycle.${phase}`) : [];
  const shown = kind === 'relations' ? shownColumns.relations : [];
  const names = [...columns, ...phases, ...shown];
  const own = new Map(names.map((name) => [plain(name), name]));
  const ofColumns = lazily(() =>
    finderOf(
      names.map((key) => {
        const { en, de, also = [] } = columnTexts[key]!;
        return { key, label: en, translations: { de, ...also } };
      }),
    ),
  );
  const ofOwn = lazily(
    () => new Map(declared.map(({ type, fields }) => [type.key, finderOf(fields as readonly Labelled[])])),
  );
  const ofSubtypes = lazily(
    () => new Map(types.map((type) => [type.key, finderOf('subtypes' in type ? type.subtypes : [])])),
  );
  const ofOptions = lazily(
    () =>
      new Map(
        declared.flatMap(({ type, fields }) =>
          fields.map(({ key, options = [] }) => [`${type.key} ${key}`, finderOf(options)] as const),
        ),
      ),
  );
  return {
    column(header, taken) {
      const attribute = ofFields()(header);
      const found = [own.get(plain(header)), attribute && `attributes.${attribute}`, ofColumns()(header)];
      const meant = found.filter((name) => name !== undefined);
      return meant.find((name) => !taken?.has(name)) ?? meant[0];
    },
    attribute: (type, label) => ofOwn().get(type ?? '')?.(label),
    type: (label) => ofTypes()(label),
    subtype: (type, label) => ofSubtypes().get(type ?? '')?.(label),
    option: (type, attribute, label) => ofOptions().get(`${type} ${attribute}`)?.(label),
  };
}

/** What people and spreadsheets write for booleans in English and German. */
const truths = new Map([
  ['yes', true],
  ['ja', true],
  ['wahr', true],
  ['no', false],
  ['nein', false],
  ['falsch', false],
]);

/** A boolean by the words that people and spreadsheets write in English and German; undefined for others. */
export const readTruth = (cell: string): boolean | undefined =>
  readBoolean(cell) ?? truths.get(cell.trim().toLowerCase());
