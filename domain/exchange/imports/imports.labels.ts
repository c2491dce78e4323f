import { textsOf } from '../../kernel/metamodel/languages.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { lifecyclePhases, type Translations } from '../../kernel/metamodel/metamodel.types.ts';
import { columnsOf, fold } from '../../kernel/transfer/columns.ts';
import { readBoolean } from '../../kernel/transfer/csv-cells.ts';

/** Finds keys by labels in any language of the metamodel. A key finds itself; a label that several keys have finds none. */
export interface Labels {
  /** The column with this header: an attribute by its label, or a column whose name is written in another way. */
  column(header: string): string | undefined;
  type(label: string): string | undefined;
  /** The subtype of a card type. */
  subtype(type: string | undefined, label: string): string | undefined;
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

/** Finds the keys of items. */
function finderOf(items: readonly Labelled[]): Find {
  const found = new Map<string, string>();
  const ambiguous = new Set<string>();
  for (const item of items) {
    // a key in another case could be meant as well
    for (const text of [item.key, ...textsOf(item.label, item.translations)]) {
      const label = plain(text);
      if (label === '') continue;
      if ((found.get(label) ?? item.key) !== item.key) ambiguous.add(label);
      found.set(label, item.key);
    }
  }
  for (const label of ambiguous) found.delete(label);
  const keys = new Set(items.map(({ key }) => key));
  return (text) => (keys.has(text.trim()) ? text.trim() : found.get(plain(text)));
}

/** Builds on first use what most files never need. */
function lazily<T>(build: () => T): () => T {
  let built: T | undefined;
  return () => {
    built ??= build();
    return built;
  };
}

/** The labels of visible types, their attributes and options. */
export function labelsOf(metamodel: Metamodel, kind: 'cards' | 'relations'): Labels {
  const types =
    kind === 'cards'
      ? metamodel.visibleTypes.map((key) => metamodel.cardTypes.get(key)!)
      : metamodel.visibleRelationTypes.map((key) => metamodel.relationTypes.get(key)!);
  const declared = types.map((type) => ({
    type,
    fields:
      'fields_schema' in type ? type.fields_schema.flatMap(({ fields }) => fields) : type.attributes_schema,
  }));
  const ofTypes = lazily(() => finderOf(types as readonly Labelled[]));
  const ofFields = lazily(() => finderOf(declared.flatMap(({ fields }) => fields as readonly Labelled[])));
  const phases = kind === 'cards' ? lifecyclePhases.map((phase) => `lifecycle.${phase}`) : [];
  const own = new Map([...columnsOf[kind], ...phases].map((name) => [plain(name), name]));
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
    column(header) {
      const attribute = ofFields()(header);
      return own.get(plain(header)) ?? (attribute && `attributes.${attribute}`);
    },
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
