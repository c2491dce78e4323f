import { parse } from 'csv-parse/sync';
import { type FieldError, invalidField } from '../../../platform/errors.ts';
import { restore } from '../../kernel/transfer/csv-cells.ts';
import { checkLine, checkText, MAX_EXTERNAL_ID, MAX_NAME } from '../cards/rules/values.ts';
import catalogues from './catalogues.json' with { type: 'json' };

/** An entry of a loaded document. */
export interface GivenNode {
  id: string;
  parent_id?: string | null;
  names: Record<string, string>;
  descriptions?: Record<string, string>;
  industry?: string;
}

const MAX_ERRORS = 20;
const MAX_DESCRIPTION = 10_000;
const MAX_INDUSTRY = 100;

/**
 * The entries of a document, parents first, or its first errors. @param field the field of the request that contains
 * them.
 */
export function readNodes(given: readonly GivenNode[], field: string): CatalogueNode[] | FieldError[] {
  const errors: FieldError[] = [];
  const report = (n: number, member: string, code: string, message: string) => {
    if (errors.length < MAX_ERRORS) errors.push({ field: `${field}.${n}.${member}`, code, message });
  };
  const byId = new Map<string, CatalogueNode>();
  for (const [n, { id, parent_id = null, names, descriptions = {}, industry }] of given.entries()) {
    const bad = checkLine('id', id, MAX_EXTERNAL_ID);
    if (bad) report(n, 'id', bad.code, bad.message);
    if (byId.has(id)) report(n, 'id', 'duplicate', 'is the id of an entry further up');
    if (!names[FALLBACK_LANGUAGE]?.trim()) report(n, 'names', 'required', 'has no English name');
    for (const [language, name] of Object.entries(names)) {
      const wrong = checkLine('name', name, MAX_NAME);
      if (wrong) report(n, `names.${language}`, wrong.code, wrong.message);
    }
    for (const [language, text] of Object.entries(descriptions)) {
      const wrong = checkText('description', text, MAX_DESCRIPTION);
      if (wrong) report(n, `descriptions.${language}`, wrong.code, wrong.message);
    }
    if ((industry?.length ?? 0) > MAX_INDUSTRY) {
      report(n, 'industry', 'too_long', `has more than ${MAX_INDUSTRY} characters`);
    }
    const parent = parent_id === null ? undefined : byId.get(parent_id);
    if (parent_id !== null && !parent) {
      report(n, 'parent_id', 'unknown_value', 'is the id of no entry further up');
    }
    const level = (parent?.level ?? 0) + 1;
    if (level > MAX_LEVELS) report(n, 'parent_id', 'too_deep', `leads below level ${MAX_LEVELS}`);
    byId.set(id, { id, parent_id, level, names, descriptions, industry: industry ?? ALL_INDUSTRIES });
  }
  return errors.length > 0 ? errors : [...byId.values()];
}

/** The text in a language, else in the language without its region, else in English. */
export function localised(texts: Record<string, string>, locale: string): string | undefined {
  const own = (language: string) => (Object.hasOwn(texts, language) ? texts[language] : undefined);
  return own(locale) ?? own(locale.split('-')[0]!) ?? own(FALLBACK_LANGUAGE);
}

/** The chosen nodes with all their ancestors, level by level from the roots; `unknown` are ids without a node. */
export function withAncestors(
  nodes: readonly CatalogueNode[],
  chosen: readonly string[],
): { levels: CatalogueNode[][]; unknown: string[] } {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const unknown = chosen.filter((id) => !byId.has(id));
  const wanted = new Set<CatalogueNode>();
  for (const id of chosen) {
    for (let node = byId.get(id); node && !wanted.has(node); node = byId.get(node.parent_id ?? '')) {
      wanted.add(node);
    }
  }
  const levels: CatalogueNode[][] = [];
  for (const node of nodes) {
    if (!wanted.has(node)) continue;
    levels[node.level - 1] ??= [];
    levels[node.level - 1]!.push(node);
  }
  return { levels, unknown };
}

/** The reference catalogues, with the kind of card that their nodes become. */
export const catalogueKinds = {
  capability: { type: 'BusinessCapability', subtypes: [], prefix: 'BC' },
  process: { type: 'BusinessProcess', subtypes: ['category', 'group', 'process'], prefix: 'BP' },
  value_stream: { type: 'BusinessContext', subtypes: ['valueStream'], prefix: 'VS' },
} as const satisfies Record<string, { type: string; subtypes: readonly string[]; prefix: string }>;

export type CatalogueKind = keyof typeof catalogueKinds;

/** One entry of a catalogue. Its id, such as `BC-100.10`, becomes the external id of its card. */
export interface CatalogueNode {
  id: string;
  parent_id: string | null;
  /** Roots have level 1. */
  level: number;
  /** By language; English is always present. */
  names: Record<string, string>;
  descriptions: Record<string, string>;
  industry: string;
}

export interface Catalogue {
  kind: CatalogueKind;
  version: string;
  /** When it was published, or loaded. */
  generatedAt: string;
  /** `bundled`, or the source that was given when it was loaded. */
  source: string;
  /** Parents before their descendants. */
  nodes: CatalogueNode[];
}

const ALL_INDUSTRIES = 'cross-industry';
export const FALLBACK_LANGUAGE = 'en';
/** The maximum number of entries of a loaded catalogue, and its maximum depth. */
export const MAX_NODES = 20_000;
const MAX_LEVELS = 6;

/** Tables of cards, as they are imported and exported, can be loaded as catalogues as well. */
const ofCards: Record<string, string> = { external_id: 'id', parent_external_id: 'parent_id' };
const COLUMN = /^(type|id|parent_id|industry|name|description|(name|description)\.[a-z]{2}(-[A-Z]{2})?)$/;

/**
 * The entries of a table with the columns `id`, `parent_id`, `industry`, `name` and `description`; the last two also by
 * language, as in `name.de`; those without a language are English. A table of cards has `external_id` and
 * `parent_external_id` instead, and `type`, which must be the type of the catalogue's cards.
 * @throws EstateError `validation_failed` if the text is no such table.
 */
export function nodesOfCsv(text: string, cardType: string): GivenNode[] {
  let rows: Record<string, string>[];
  try {
    rows = parse(text, {
      bom: true,
      delimiter: [',', ';', '\t'],
      skip_empty_lines: true,
      columns: (given: string[]) => {
        const header = given.map((name) => (Object.hasOwn(ofCards, name) ? ofCards[name]! : name));
        const unknown = header.find((name) => !COLUMN.test(name));
        if (unknown !== undefined) throw new Error(`The column ${unknown.slice(0, 100)} is not known.`);
        if (new Set(header).size < header.length) throw new Error('A column stands there twice.');
        return header;
      },
      on_record: (row: Record<string, string>, { lines }) => {
        if (row.type && row.type !== cardType) {
          throw new Error(
            `Line ${lines}: the catalogue is one of ${cardType}, not of ${row.type.slice(0, 100)}.`,
          );
        }
        return row;
      },
      cast: (value, { header }) => (header ? value : restore(value)),
    });
  } catch (error) {
    throw invalidField('csv', 'bad_csv', error instanceof Error ? error.message : 'cannot be read');
  }
  return rows.map((row) => ({
    id: row.id ?? '',
    parent_id: row.parent_id || null,
    names: byLanguage(row, 'name'),
    descriptions: byLanguage(row, 'description'),
    ...(row.industry ? { industry: row.industry } : {}),
  }));
}

function byLanguage(row: Record<string, string>, member: 'name' | 'description'): Record<string, string> {
  return Object.fromEntries(
    Object.entries(row).flatMap(([column, value]) => {
      const [name, language = 'en'] = column.split('.');
      return name === member && value !== '' ? [[language, value]] : [];
    }),
  );
}

/** The version of the bundled catalogues, which increases when they change. */
export const BUNDLED_VERSION = '1.0.0';
const WRITTEN = '2026-11-22T00:00:00.000Z';

/** The nodes of an indented text: `part English | German` on each line, two spaces for each level. */
export function nodesOf(text: string, prefix: string): CatalogueNode[] {
  const above: string[] = [];
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, blanks, part, en, de] = /^( *)(\d+) (.+?) \| (.+)$/.exec(line)!;
      const level = blanks!.length / 2 + 1;
      const parent_id = level === 1 ? null : above[level - 2]!;
      const id = parent_id === null ? `${prefix}-${part}` : `${parent_id}.${part}`;
      above[level - 1] = id;
      const names = { en: en!, de: de! };
      return { id, parent_id, level, names, descriptions: {}, industry: ALL_INDUSTRIES };
    });
}

const made = new Map<CatalogueKind, Catalogue>();

/** The catalogue of a kind that comes with the service. */
export function bundledCatalogue(kind: CatalogueKind): Catalogue {
  let catalogue = made.get(kind);
  if (!catalogue) {
    const nodes = nodesOf(catalogues[kind].join('\n'), catalogueKinds[kind].prefix);
    catalogue = { kind, version: BUNDLED_VERSION, generatedAt: WRITTEN, source: 'bundled', nodes };
    made.set(kind, catalogue);
  }
  return catalogue;
}
