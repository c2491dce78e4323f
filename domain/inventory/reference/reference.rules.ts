import type { FieldError } from '../../../platform/errors.ts';
import { checkLine, checkText, MAX_EXTERNAL_ID, MAX_NAME } from '../cards/rules/text.ts';
import { ALL_INDUSTRIES, type CatalogueNode, FALLBACK_LANGUAGE, MAX_LEVELS } from './reference.types.ts';

/** An entry as a loaded document gives it. */
export interface GivenNode {
  id: string;
  parent_id?: string | null;
  names: Record<string, string>;
  descriptions?: Record<string, string>;
  industry?: string;
}

const MAX_FAULTS = 20;
const MAX_DESCRIPTION = 10_000;
const MAX_INDUSTRY = 100;

/**
 * The entries of a document, in order with parents first, or what is wrong with them (the first faults).
 * @param field where they stand in the request.
 */
export function readNodes(given: readonly GivenNode[], field: string): CatalogueNode[] | FieldError[] {
  const faults: FieldError[] = [];
  const fault = (n: number, member: string, code: string, message: string) => {
    if (faults.length < MAX_FAULTS) faults.push({ field: `${field}.${n}.${member}`, code, message });
  };
  const byId = new Map<string, CatalogueNode>();
  for (const [n, { id, parent_id = null, names, descriptions = {}, industry }] of given.entries()) {
    const bad = checkLine('id', id, MAX_EXTERNAL_ID);
    if (bad) fault(n, 'id', bad.code, bad.message);
    if (byId.has(id)) fault(n, 'id', 'duplicate', 'is the id of an entry further up');
    if (!names[FALLBACK_LANGUAGE]?.trim()) fault(n, 'names', 'required', 'has no English name');
    for (const [language, name] of Object.entries(names)) {
      const wrong = checkLine('name', name, MAX_NAME);
      if (wrong) fault(n, `names.${language}`, wrong.code, wrong.message);
    }
    for (const [language, text] of Object.entries(descriptions)) {
      const wrong = checkText('description', text, MAX_DESCRIPTION);
      if (wrong) fault(n, `descriptions.${language}`, wrong.code, wrong.message);
    }
    if ((industry?.length ?? 0) > MAX_INDUSTRY) {
      fault(n, 'industry', 'too_long', `has more than ${MAX_INDUSTRY} characters`);
    }
    const parent = parent_id === null ? undefined : byId.get(parent_id);
    if (parent_id !== null && !parent) {
      fault(n, 'parent_id', 'unknown_value', 'is the id of no entry further up');
    }
    const level = (parent?.level ?? 0) + 1;
    if (level > MAX_LEVELS) fault(n, 'parent_id', 'too_deep', `leads below level ${MAX_LEVELS}`);
    const node = { id, parent_id, level, names, descriptions, industry: industry ?? ALL_INDUSTRIES };
    byId.set(id, node);
  }
  return faults.length > 0 ? faults : [...byId.values()];
}

/** The text in a language, else in the language without its region, else in English. */
export function localised(texts: Record<string, string>, locale: string): string | undefined {
  const own = (language: string) => (Object.hasOwn(texts, language) ? texts[language] : undefined);
  return own(locale) ?? own(locale.split('-')[0]!) ?? own(FALLBACK_LANGUAGE);
}

/** The chosen nodes with all above them, level by level from the roots; `unknown` are ids of none. */
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
