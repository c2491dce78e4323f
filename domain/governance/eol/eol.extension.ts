import type { Extension } from '../../kernel/extensions.ts';
import type { Resource } from '../../kernel/resources/resource.ts';
import { eolRefreshJob } from './eol.facts.ts';
import { EolCycle, EolProduct } from './eol.model.ts';

const reason = 'Facts about products are loaded from their source.';
const facts = { undo: { refused: reason }, transfer: { excluded: 'derived', reason } } as const;

const resources: readonly Resource[] = [
  { model: EolProduct, name: 'product', events: { updated: ['eol_facts.loaded'] }, ...facts },
  { model: EolCycle, name: 'release cycle', events: {}, ...facts },
];

/** End-of-life facts. */
export const eolExtension: Extension = { resources, jobs: [eolRefreshJob] };
