import dora from './dora.json' with { type: 'json' };
import euAiAct from './eu-ai-act.json' with { type: 'json' };
import gdpr from './gdpr.json' with { type: 'json' };
import iso27001 from './iso27001.json' with { type: 'json' };
import nis2 from './nis2.json' with { type: 'json' };
import readings from './readings.json' with { type: 'json' };
import type { ComplianceRule, ReadingRule } from './rules.types.ts';
import soc2 from './soc2.json' with { type: 'json' };

const sets = { eu_ai_act: euAiAct, gdpr, nis2, dora, soc2, iso27001 } as Record<string, ComplianceRule[]>;

/** The rules of the built-in regulations, by the regulation's key; regulations of a workspace have none. */
export const ruleSets: ReadonlyMap<string, readonly ComplianceRule[]> = new Map(Object.entries(sets));

/** The rules for which a language model reads cards, by the regulation's key. */
export const readingSets: ReadonlyMap<string, readonly ReadingRule[]> = new Map(
  Object.entries(readings as Record<string, ReadingRule[]>),
);
