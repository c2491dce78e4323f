import { scoreOf } from '../../../../domain/analysis/compliance/scans.queries.ts';
import { findingStatuses, scores } from '../../../../domain/governance/compliance/compliance.model.ts';
import { readingSets, ruleSets } from '../../../../domain/governance/compliance/rules/rule-sets.ts';
import { compileApplies, compileRule } from '../../../../domain/governance/compliance/rules/rules.compile.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const t = closeAfterAll(await createTestServices());
const { db } = t.services;

const all = [...ruleSets].flatMap(([regulation, rules]) =>
  rules.map((rule) => ({ name: `${regulation} ${rule.key}`, rule })),
);

describe('the rules of the built-in regulations', () => {
  it('are there for each of them', async () => {
    const builtIn: string[] = await db('compliance_regulations').where({ built_in: true }).pluck('key');
    expect([...ruleSets.keys()].sort()).toEqual(builtIn.sort());
    for (const [regulation, rules] of ruleSets)
      expect(new Set(rules.map(({ key }) => key)).size, regulation).toBe(rules.length);
  });

  it('all name what the built-in metamodel has, and say something of each gap', async () => {
    const { metamodel } = await t.ctx();
    for (const { name, rule } of all) {
      const { gap, applies, severity, facts } = compileRule(metamodel, rule, '2026-01-31');
      const { rows } = await db.raw(
        `select ${severity.sql} as severity, ${facts.sql} as facts, (${applies.sql}) as applies
         from cards c where ${gap.sql} limit 1`,
        [...severity.bindings, ...facts.bindings, ...applies.bindings, ...gap.bindings],
      );
      expect(rows, name).toEqual([]);
      expect(rule.evidence.length, name).toBeGreaterThan(0);
    }
  });

  it('for which cards are read name what it has too, under keys of their own', async () => {
    const { metamodel } = await t.ctx();
    for (const [regulation, rules] of readingSets) {
      const keys = [...ruleSets.get(regulation)!, ...rules].map(({ key }) => key);
      expect(new Set(keys).size, regulation).toBe(keys.length);
      for (const { key, applies, question } of rules) {
        const { sql, bindings } = compileApplies(metamodel, applies, '2026-01-31');
        await db.raw(`select from cards c where ${sql} limit 1`, bindings);
        expect(question, key).toMatch(/\?/);
      }
    }
  });
});

it('a score is the rounded mean of what findings count for', () => {
  expect(scoreOf({})).toBe(0);
  for (const status of findingStatuses) expect(scoreOf({ [status]: 3 })).toBe(scores[status]);
  expect(scoreOf({ compliant: 1, partial: 1, review_needed: 1, non_compliant: 1 })).toBe(45);
  expect(scoreOf({ not_applicable: 2, non_compliant: 1 })).toBe(67);
});
