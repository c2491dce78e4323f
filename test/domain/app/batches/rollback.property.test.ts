import { noRuns } from '../../../../domain/inventory/calculations/calculations.follow.ts';
import { seedsOfType } from '../../../../domain/inventory/calculations/recalculate.ts';
import { loadCards } from '../../../../domain/inventory/cards/cards.load.ts';
import { saveCards } from '../../../../domain/inventory/cards/cards.save.ts';
import { dataQuality, qualityFacts } from '../../../../domain/inventory/cards/rules/quality.ts';
import { command, commandWith } from '../../../../domain/kernel/command.ts';
import type { Work } from '../../../../domain/kernel/context.ts';
import { openApp } from '../../../support/harness.ts';
import { tablesOf } from '../../../support/tables.ts';
import { workspaceWide } from './acts/all.ts';
import { onCardActs } from './acts/attached.ts';
import { plainCardActs } from './acts/cards.ts';
import { type Act, type Acts, createHand, type Tally } from './acts/hand.ts';
import { portalActs } from './acts/portals.ts';

/*
 * Batches of random writes of every kind are rolled back, and the rollbacks too: every table is what it was. So the
 * events tell each write in full. ROLLBACK_ROUNDS and ROLLBACK_SEED make longer and other runs.
 */
const ROUNDS = Number(process.env.ROLLBACK_ROUNDS ?? 6);
const SEED = Number(process.env.ROLLBACK_SEED ?? 20);
const WRITES = 40;

const chosen = (...kinds: Acts[]): Act[] =>
  kinds.flat().flatMap(([act, often]) => Array<Act>(often).fill(act));
const all = chosen(...workspaceWide, portalActs);
/** Batches of these alone let what they attached go with the cards that they made. */
const plain = chosen(plainCardActs, onCardActs);
const url = '/api/v1/mutation-batches';

const { t, admin } = await openApp(['admin']);
const people = [admin.userId, (await t.as('member')).userId, (await t.as('viewer')).userId];

async function batchOf(seed: number, tally: Tally, said: string[]): Promise<string> {
  const { body } = await admin.post(url, { tool_name: 'Random' });
  const hand = createHand(t, admin, people, seed, tally, () => ({ 'x-mutation-batch': body.id }));
  for (let n = 0; n < WRITES; n += 1) {
    const { done } = tally;
    await hand.one(seed % 3 === 1 ? plain : all)(hand);
    if (tally.done > done) said.push(tally.last);
  }
  expect((await admin.post(`${url}/${body.id}/commit`, {})).status).toBe(200);
  return body.id;
}

/** Cards whose data quality is another than the rules say: the rollback counts it anew, and so could not agree. */
async function wrongScores(): Promise<unknown[]> {
  const ids = await t.services.db('cards').pluck('id');
  const ctx = await t.ctx();
  return await command(ctx, async (work) =>
    [...(await loadCards(work, ctx, ids)).values()].flatMap((card) => {
      const type = work.metamodel.cardTypes.get(card.type)!;
      const right = dataQuality(type, card, qualityFacts(type, card.filled));
      return card.data_quality === right ? [] : [{ id: card.id, is: card.data_quality, right }];
    }),
  );
}

/** How many values are not what the formulas in force give: they may not lag behind at any time. */
async function laggingValues(): Promise<number> {
  const ctx = await t.ctx();
  const lagging = async (work: Work) => {
    const ids = await work.sql('cards').where({ type: 'Application' }).pluck('id');
    const runs = noRuns();
    await saveCards(work, ctx, [], { seeds: seedsOfType(work, 'Application', ids), runs });
    return runs.updated;
  };
  return await commandWith(ctx, { dryRun: true }, lagging);
}

/** Rolls back in earnest, after a try that tells the same. @returns the rollback's own batch. */
async function rollBack(id: string, said: string[]): Promise<string> {
  const tried = await admin.post(`${url}/${id}/rollback`, {});
  const done = await admin.post(`${url}/${id}/rollback`, { dry_run: false });
  expect(done.status, `${done.text}\n${said.join('\n')}`).toBe(200);
  expect(done.body.counts).toEqual({ undone: done.body.event_count, left: 0 });
  const { batch: _, dry_run: __, ...report } = done.body;
  expect(tried.body, said.join('\n')).toMatchObject(report);
  return done.body.batch.rolled_back_by;
}

it('random writes of every kind are rolled back whole, and so are the rollbacks', {
  timeout: 60_000 + ROUNDS * 20_000,
}, async () => {
  const tally: Tally = { done: 0, refused: 0, last: '' };
  for (let round = 0; round < ROUNDS; round += 1) {
    const said: string[] = [`seed ${SEED + round}`];
    const before = await tablesOf(t.services.db);
    const batch = await batchOf(SEED + round, tally, said);
    expect([await wrongScores(), await laggingValues()], said.join('\n')).toEqual([[], 0]);
    const after = await tablesOf(t.services.db);
    const rollback = await rollBack(batch, said);
    expect(await tablesOf(t.services.db), said.join('\n')).toEqual(before);
    expect(await laggingValues(), said.join('\n')).toBe(0);
    const again = await rollBack(rollback, said);
    expect(await tablesOf(t.services.db), said.join('\n')).toEqual(after);
    // every second round goes on from what was there before
    if (round % 2 === 1) await rollBack(again, said);
  }
  // a run in which nearly everything is refused would prove nothing
  expect(tally.done).toBeGreaterThan(tally.refused);
});
