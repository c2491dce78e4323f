import { doraRules } from './dora.data.ts';
import { euAiActRules } from './eu-ai-act.data.ts';
import { gdprRules } from './gdpr.data.ts';
import { iso27001Rules } from './iso27001.data.ts';
import { nis2Rules } from './nis2.data.ts';
import { readingRules } from './readings.data.ts';
import type { ComplianceRule, ReadingRule } from './rules.types.ts';
import { soc2Rules } from './soc2.data.ts';

/** The rules of the built-in regulations, by the regulation's key; regulations of a workspace's own have none. */
export const ruleSets: ReadonlyMap<string, readonly ComplianceRule[]> = new Map([
  ['eu_ai_act', euAiActRules],
  ['gdpr', gdprRules],
  ['nis2', nis2Rules],
  ['dora', doraRules],
  ['soc2', soc2Rules],
  ['iso27001', iso27001Rules],
]);

/** The rules for which cards are read by a language model, by the regulation's key. */
export const readingSets: ReadonlyMap<string, readonly ReadingRule[]> = new Map(Object.entries(readingRules));
