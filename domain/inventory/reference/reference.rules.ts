import { parse } from 'csv-parse/sync';
import { type FieldError, invalidField } from '../../../platform/errors.ts';
import { canonical } from '../../kernel/events/row-changes.ts';
import { restore } from '../../kernel/transfer/csv-cells.ts';
import { checkLine, checkText, MAX_EXTERNAL_ID, MAX_NAME } from '../cards/rules/values.ts';
import catalogues from './catalogues.json' with { type: 'json' };

/** What an entry says besides its name and place; absent members are empty. */
interface NodeDetails {
  /** Other names. */
  aliases?: string[];
  /** Sources, as texts or URLs. */
  references?: string[];
  /** Its ids in frameworks, by their names. */
  framework_ids?: Record<string, string>;
  is_deprecated?: boolean;
  /** By language. */
  notes?: Record<string, string>;
  /** The entries of the other catalogues to which an import relates its card. */
  capability_ids?: string[];
  process_ids?: string[];
}

/** An entry of a loaded document. */
export interface GivenNode extends NodeDetails {
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
  for (const [n, node] of given.entries()) {
    const { id, parent_id = null, names, descriptions = {}, industry, ...details } = node;
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
    const known = { id, parent_id, level, names, descriptions, industry: industry ?? ALL_INDUSTRIES };
    byId.set(id, { ...details, ...known });
  }
  return errors.length > 0 ? errors : [...byId.values()];
}

/** The text in a language, else in the language without its region, else in English. */
export function localised(texts: Record<string, string>, locale: string): string | undefined {
  const own = (language: string) => (Object.hasOwn(texts, language) ? texts[language] : undefined);
  return own(locale) ?? own(locale.split('-')[0]!) ?? own(FALLBACK_LANGUAGE);
}

/** The nodes that are not deprecated, with all their ancestors. */
export function withoutDeprecated(nodes: readonly CatalogueNode[]): CatalogueNode[] {
  const kept = new Set<string>();
  for (const node of nodes.toReversed()) {
    if (!node.is_deprecated || kept.has(node.id)) {
      kept.add(node.id);
      if (node.parent_id !== null) kept.add(node.parent_id);
    }
  }
  return nodes.filter(({ id }) => kept.has(id));
}

/** How a published catalogue differs from the active one, by the ids of entries. */
export function compareCatalogues(active: Catalogue, version: string, published: readonly CatalogueNode[]) {
  const before = new Map(active.nodes.map((node) => [node.id, canonical(node)]));
  const added = published.filter(({ id }) => !before.has(id));
  const changed = published.filter((node) => {
    const known = before.get(node.id);
    return known !== undefined && known !== canonical(node);
  });
  return {
    catalogue_version: version,
    current_version: active.version,
    is_newer: byNumber.compare(version, active.version) > 0,
    node_count: published.length,
    added: added.length,
    changed: changed.length,
    removed: active.nodes.length - (published.length - added.length),
  };
}

/** Versions with numbers by their value: 1.10 after 1.9. */
const byNumber = new Intl.Collator('en', { numeric: true });

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
  capability: { type: 'BusinessCapability', subtypes: [], prefix: 'BC', relations: [] },
  process: {
    type: 'BusinessProcess',
    subtypes: ['category', 'group', 'process'],
    prefix: 'BP',
    relations: [{ member: 'capability_ids', type: 'relProcessToBC', other: 'BusinessCapability' }],
  },
  value_stream: {
    type: 'BusinessContext',
    subtypes: ['valueStream'],
    prefix: 'VS',
    relations: [
      { member: 'capability_ids', type: 'relBizCtxToBC', other: 'BusinessCapability' },
      { member: 'process_ids', type: 'relProcessToBizCtx', other: 'BusinessProcess', isTarget: true },
    ],
  },
} as const satisfies Record<
  string,
  {
    type: string;
    subtypes: readonly string[];
    prefix: string;
    relations: readonly CatalogueRelation[];
  }
>;

/** How the cards of a catalogue are related to those of another. */
export interface CatalogueRelation {
  /** The member of an entry with the ids of the entries. */
  member: 'capability_ids' | 'process_ids';
  /** The relation type, and the type of the other cards. */
  type: string;
  other: string;
  /** Whether the card of the entry is the target. */
  isTarget?: true;
}

export type CatalogueKind = keyof typeof catalogueKinds;

/** One entry of a catalogue. Its id, such as `BC-100.10`, becomes the external id of its card. */
export interface CatalogueNode extends NodeDetails {
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
  /** Where it was published, of a loaded one. */
  url?: string | null;
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
const COLUMN =
  /^(type|id|parent_id|industry|is_deprecated|(name|description|notes)(\.[a-z]{2}(-[A-Z]{2})?)?|aliases|references|capability_ids|process_ids)$/;

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
    ...(row.is_deprecated?.toLowerCase() === 'true' ? { is_deprecated: true } : {}),
    ...(Object.keys(row).some((column) => /^notes(\.|$)/.test(column)) && {
      notes: byLanguage(row, 'notes'),
    }),
    ...Object.fromEntries(
      listColumns.flatMap((column) => (row[column] ? [[column, entriesOf(row[column])]] : [])),
    ),
  }));
}

/** Columns with several entries, separated by semicolons. */
const listColumns = ['aliases', 'references', 'capability_ids', 'process_ids'] as const;
const entriesOf = (cell: string): string[] =>
  cell
    .split(';')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

function byLanguage(
  row: Record<string, string>,
  member: 'name' | 'description' | 'notes',
): Record<string, string> {
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
