import { describe, expect, it } from 'vitest';
import { applyRemote } from '../../../integrations/itsm/engine/apply.remote.ts';
import type { ApplyOptions } from '../../../integrations/itsm/engine/apply.state.ts';
import { applyPlan } from '../../../integrations/itsm/engine/apply.ts';
import type { EnginePort, Outcome, Standing } from '../../../integrations/itsm/engine/apply.types.ts';
import { emptyBook, writeBook } from '../../../integrations/itsm/engine/book.ts';
import type { Book } from '../../../integrations/itsm/engine/book.types.ts';
import { emptyRow } from '../../../integrations/itsm/engine/plan.draft.ts';
import { makePlan } from '../../../integrations/itsm/engine/plan.ts';
import type { Plan } from '../../../integrations/itsm/engine/plan.types.ts';
import { undoPlan } from '../../../integrations/itsm/engine/undo.ts';
import { verifyPlan } from '../../../integrations/itsm/engine/verify.ts';
import { evaluate, mappingOf } from './histories/landscape.ts';
import { type Journal, Killed, memoryPort, type Sides } from './histories/memory.port.ts';
import { createSides } from './histories/memory.sides.ts';
import type { Setting, Trouble } from './histories/steps.ts';

const setting: Setting = {
  rules: ['remote_leads', 'remote_leads', 'remote_leads'],
  deletion: 'strict',
  tombstones: true,
  looks: true,
  marks: true,
  normalising: false,

  quarantine: 0,
};
const mapping = mappingOf(setting);

type Applied = ApplyOptions & { approvals?: Map<number, 'approved' | 'rejected'>; chunk?: number };

/** Two sides with a book and a journal, small enough to follow by hand. */
function landscape() {
  const sides: Sides = createSides(mapping, setting);
  const book: Book = emptyBook();
  const journal: Journal = new Map();
  const outcomes = new Map<number, Outcome>();
  let plans = 0;
  const plan = (over: Partial<typeof mapping> = {}): Plan => {
    plans += 1;
    journal.clear();
    outcomes.clear();
    const remote = {
      kind: 'complete' as const,
      records: structuredClone([...sides.records.values()]),
      tombstones: sides.tombstones,
      looks: new Map(),
      watermark: sides.now(),
    };
    const local = { cards: structuredClone(sides.cards), redirects: sides.redirects };
    const seen = { remote, local, resolutions: [], decisions: [], now: sides.tick(), remoteAheadMs: 0 };
    return makePlan(`p${plans}`, { ...mapping, ...over }, book, seen, { score: () => [], evaluate });
  };
  const apply = async (
    of: Plan,
    troubles: Trouble[] = [],
    { approvals, chunk = 1, ...options }: Applied = {},
  ) => {
    const commit = (changes: Parameters<typeof writeBook>[1]) => writeBook(book, changes);
    const act = async () => {};
    const port = memoryPort(
      { plan: of, chunk, approvals, sides, book, commit, setting, mutant: undefined, mapping, troubles, act },
      journal,
    );
    const { finish, writeLocal } = port;
    port.finish = async (endings) => {
      for (const { row, outcome } of endings) outcomes.set(row.no, outcome);
      await finish(endings);
    };
    port.writeLocal = async (steps) => {
      const ended = await writeLocal(steps);
      for (const [n, { row }] of steps.entries()) outcomes.set(row.no, ended[n]!);
      return ended;
    };
    return await applyPlan(mapping, of, port, { remoteBatch: chunk, ...options });
  };
  return { sides, book, journal, outcomes, plan, apply };
}

const fields = (name: string, key: string) => ({ name, 'attributes.end': null, 'attributes.key': key });

/** A pair that both sides agree on, a card that is new, and a record that is. */
async function started() {
  const world = landscape();
  const { sides } = world;
  const card = sides.create('local', fields('a', 'k1'));
  await world.apply(world.plan());
  const [remote] = [...sides.records.keys()];
  return { ...world, card, remote: remote! };
}

describe('a plan that is applied', () => {
  it('leaves rows alone whose state no longer holds, and takes them up next time', async () => {
    const { sides, plan, apply, outcomes, card, remote, book } = await started();
    sides.edit('local', card, 'name', 'b');
    const made = plan();
    sides.edit('remote', remote, 'name', 'c');
    expect((await apply(made)).counts).toMatchObject({ stale: 1, applied: 0 });
    expect(outcomes.get(0)?.message).toBe("'name' is 'c' at the remote by now, instead of 'a'.");
    expect(book.again).toEqual(new Set([remote]));
    await apply(plan());
    expect(sides.cards.get(card)?.fields.name).toBe('c');
  });

  it('goes on after a kill where it was, and sends nothing twice', async () => {
    const { sides, plan, apply } = landscape();
    for (const key of ['k1', 'k2', 'k3']) sides.create('local', fields(key, key));
    const made = plan();
    for (const call of [2, 3, 1, 2, 4, 6]) {
      const killed = apply(made, [{ kind: 'kill', call, after: true }]);
      await killed.catch((error) => expect(error).toBeInstanceOf(Killed));
    }
    expect((await apply(made)).status).toBe('done');
    expect(sides.shown('remote').map(({ fields: { name } }) => name)).toEqual(['k1', 'k2', 'k3']);
  });

  it('looks for a write of which the answer was lost before it sends it again', async () => {
    for (const done of [true, false]) {
      const { sides, plan, apply } = landscape();
      sides.create('local', fields('a', 'k1'));
      const lost: Trouble = { kind: 'lost', call: 1, done };
      expect(await apply(plan(), [lost])).toMatchObject({ status: 'done', counts: { applied: 1 } });
      expect(sides.records.size).toBe(1);
    }
  });

  it('leads references to what it makes itself, whenever it is killed and whatever answer is lost', async () => {
    const PLACE = 'relations.relRememberedAt';
    for (const side of ['local', 'remote'] as const) {
      for (let call = 0; ; call += 1) {
        const { sides, book, plan, apply } = landscape();
        const [one, other] = ['k1', 'k2'].map((key) => sides.create(side, fields(key, key))) as [
          string,
          string,
        ];
        // each leads to the other, so that no order makes both at once
        sides.edit(side, one, PLACE, other);
        sides.edit(side, other, PLACE, one);
        const made = plan();
        expect(made.rows.map(({ action }) => action)).toEqual(['create', 'create', 'update', 'update']);
        expect(made.closing.again).toEqual([]);
        const trouble: Trouble =
          call % 2 === 0
            ? { kind: 'kill', call: call / 2, after: true }
            : { kind: 'lost', call: (call - 1) / 2, done: true };
        const troubles = [trouble];
        await apply(made, troubles, { chunk: 2 }).catch((error) => expect(error).toBeInstanceOf(Killed));
        expect((await apply(made, [], { chunk: 2 })).status).toBe('done');
        const pairs = [...book.pairs.values()];
        const paired = new Map(pairs.map(({ cardId, remoteId }) => [cardId, remoteId]));
        expect([pairs.length, sides.cards.size, sides.records.size]).toEqual([2, 2, 2]);
        for (const { cardId, remoteId } of pairs) {
          const card = sides.cards.get(cardId)!.fields[PLACE] as string;
          const record = sides.records.get(remoteId)!.fields.u_place!.value;
          expect([paired.get(card), card === cardId]).toEqual([record, false]);
        }
        expect(plan().rows).toEqual([]);
        if (troubles.length > 0 && trouble.kind === 'kill') break;
      }
    }
  });

  it('goes out in two parts at a time, but no part before one that it has to do with', async () => {
    const log: string[] = [];
    const note = (what: string, rows: readonly { row: { no: number } }[]) =>
      log.push(...rows.map(({ row }) => `${what} ${row.no}`));
    const port = {
      begin: async (rows: Parameters<EnginePort['begin']>[0]) => {
        note('begin', rows);
        return rows.map(() => null);
      },
      writeRemote: async () => ({ kind: 'done', record: null }),
      finish: async (endings: Parameters<EnginePort['finish']>[0]) => void note('end', endings),
    } as unknown as EnginePort;
    const about: [cardId: string, needs: number | null][] = [
      ['c0', null],
      ['c1', null],
      ['c0', null],
      ['c3', 2],
    ];
    const rows = about.map(
      ([cardId, needs], no): Standing => ({
        row: { ...emptyRow, action: 'create', side: 'remote', reason: 'as tested', cardId, needs, no },
        progress: 'pending',
        approval: null,
      }),
    );
    const options = { remoteBatch: 1, partsAtOnce: 2 };
    await applyRemote({ mapping, planId: 'p', port, options, ended: new Map() }, rows);
    const at = (what: string) => log.indexOf(what);
    expect(log).toHaveLength(8);
    expect(at('begin 1')).toBeLessThan(at('end 0'));
    expect(at('begin 2')).toBeGreaterThan(at('end 0'));
    expect(at('begin 3')).toBeGreaterThan(at('end 2'));
  });

  it('applies the rows that were approved, and the others later', async () => {
    const { sides, plan, apply } = landscape();
    for (const key of ['k1', 'k2']) sides.create('local', fields(key, key));
    const made = plan();
    const approvals = new Map([[1, 'approved' as const]]);
    expect((await apply(made, [], { approvals, approvedOnly: true })).counts).toMatchObject({
      applied: 1,
      pending: 1,
    });
    expect(sides.shown('remote').map(({ fields: { name } }) => name)).toEqual(['k2']);
    expect((await apply(made)).counts).toMatchObject({ applied: 2 });
    expect(sides.records.size).toBe(2);
  });

  it('does nothing when the breaker has stopped it, unless a person lets it go on', async () => {
    const { sides, plan, apply, remote, book } = await started();
    sides.remove('remote', remote, true);
    const made = plan({ deletion: { ...mapping.deletion, maxCount: 0 } });
    expect(await apply(made)).toMatchObject({
      status: 'stopped',
      message: expect.stringMatching('1 removal'),
    });
    expect(book.pairs.get(remote)?.state.kind).toBe('linked');
    await apply(made, [], { despiteBreaker: true });
    expect(book.pairs.get(remote)?.state.kind).toBe('quarantined');
  });

  it('is verified against both sides', async () => {
    const { sides, plan, apply, outcomes, card, remote, book } = await started();
    sides.edit('local', card, 'name', 'b');
    const made = plan();
    await apply(made);
    const present = () => ({
      outcomes,
      book,
      cards: sides.cards,
      records: new Map([[remote, { kind: 'there' as const, record: sides.records.get(remote)! }]]),
    });
    expect(verifyPlan(mapping, made, present())).toEqual([]);
    sides.edit('remote', remote, 'name', 'z');
    expect(verifyPlan(mapping, made, present())).toEqual([
      { no: 0, message: "'name' is 'z' instead of 'b'." },
    ]);
  });
});

describe('a plan that is taken back', () => {
  it('leaves both sides and the book as they were', async () => {
    const world = await started();
    const { sides, plan, apply, outcomes, card, remote, book } = world;
    sides.edit('local', card, 'name', 'b');
    sides.edit('remote', remote, 'attributes.end', '2026-01-01 00:00:00');
    sides.create('remote', { ...fields('x', 'k7') });
    const second = sides.create('local', fields('y', 'k8'));
    const was = [structuredClone(book.pairs), sides.shown('local'), sides.shown('remote')];
    const made = plan();
    expect((await apply(made)).counts.applied).toBe(4);
    const back = undoPlan('undo', made, new Map(outcomes), book, sides.now());
    expect(back.rows).toHaveLength(4);
    world.journal.clear();
    expect((await apply(back)).counts).toMatchObject({ applied: 4, stale: 0 });
    expect([book.pairs, sides.shown('local'), sides.shown('remote')]).toEqual(was);
    expect(sides.cards.get(second)?.archived).toBe(false);
  });

  it.each(['remote_leads', 'local_leads'] as const)(
    'brings back both values of a conflict that was settled, and what was agreed on before both (%s)',
    async (rule) => {
      const { sides, plan, apply, outcomes, card, remote, book, journal } = await started();
      const ruled = { fields: mapping.fields.map((field) => ({ ...field, rule })) };
      sides.edit('local', card, 'name', 'b');
      sides.edit('remote', remote, 'name', 'c');
      const was = structuredClone(book.pairs);
      const names = () =>
        (['local', 'remote'] as const).map((side) => sides.shown(side).map(({ fields: { name } }) => name));
      const made = plan(ruled);
      await apply(made);
      const winner = rule === 'remote_leads' ? 'c' : 'b';
      expect(names()).toEqual([[winner], [winner]]);
      const settled = structuredClone(book.pairs);
      const back = undoPlan('undo', made, new Map(outcomes), book, sides.now());
      journal.clear();
      expect((await apply(back)).counts).toMatchObject({ applied: 1, stale: 0 });
      expect(names()).toEqual([['b'], ['c']]);
      expect(book.pairs).toEqual(was);
      const records = new Map(
        [...sides.records].map(([id, record]) => [id, { kind: 'there', record }] as const),
      );
      const present = { outcomes: new Map(outcomes), book, cards: sides.cards, records };
      expect(verifyPlan(mapping, back, present)).toEqual([]);
      // that is taken back as well
      const again = undoPlan('again', back, new Map(outcomes), book, sides.now());
      journal.clear();
      expect((await apply(again)).counts).toMatchObject({ applied: 1, stale: 0 });
      expect(names()).toEqual([[winner], [winner]]);
      expect(book.pairs).toEqual(settled);
    },
  );

  it('does not take later changes along', async () => {
    const { sides, plan, apply, outcomes, card, remote, book, journal } = await started();
    sides.edit('remote', remote, 'name', 'b');
    const made = plan();
    await apply(made);
    sides.edit('local', card, 'name', 'c');
    const back = undoPlan('undo', made, new Map(outcomes), book, sides.now());
    journal.clear();
    expect((await apply(back)).counts).toMatchObject({ applied: 0, stale: 1 });
    expect(sides.cards.get(card)?.fields.name).toBe('c');
  });

  it('does not take along what a later run has brought in step', async () => {
    const { sides, plan, apply, outcomes, card, remote, book, journal } = await started();
    const second = sides.create('remote', fields('x', 'k7'));
    sides.edit('remote', remote, 'name', 'b');
    const made = plan();
    await apply(made);
    const ends = new Map(outcomes);
    const other = book.pairs.get(second)!.cardId;
    sides.edit('local', card, 'name', 'c');
    sides.edit('local', other, 'name', 'd');
    journal.clear();
    await apply({ ...plan(), id: 'later' });
    const back = undoPlan('undo', made, ends, book, sides.now());
    journal.clear();
    expect((await apply(back)).counts).toMatchObject({ applied: 0, stale: 2 });
    for (const side of ['local', 'remote'] as const)
      expect(sides.shown(side).map(({ fields: { name } }) => name)).toEqual(['c', 'd']);
  });

  it('makes pairs again of what was made, when that is taken back as well', async () => {
    const { sides, plan, apply, outcomes, book, journal } = await started();
    sides.create('remote', fields('x', 'k7'));
    sides.create('local', fields('y', 'k8'));
    const made = plan();
    await apply(made);
    const basesOf = () =>
      [...book.pairs.values()].map(({ base, origin, state }) => ({ base, origin, state }));
    const bases = basesOf();
    const names = (['local', 'remote'] as const).map((side) => sides.shown(side).length);
    let last = made;
    for (const [id, count] of [
      ['undo', 1],
      ['redo', 3],
      ['undo again', 1],
      ['redo again', 3],
    ] as const) {
      last = undoPlan(id, last, new Map(outcomes), book, sides.now());
      journal.clear();
      expect((await apply(last)).counts).toMatchObject({ applied: 2, stale: 0 });
      expect(book.pairs.size).toBe(count);
    }
    expect(basesOf()).toEqual(bases);
    expect((['local', 'remote'] as const).map((side) => sides.shown(side).length)).toEqual(names);
    expect(plan().rows).toEqual([]);
  });

  it('empties nothing when a first agreement is taken back again and again', async () => {
    const { sides, plan, apply, outcomes, card, remote, book, journal } = await started();
    book.pairs.get(remote)!.base = {};
    sides.edit('remote', remote, 'name', 'b');
    const ruled = mapping.fields.map((field) => ({ ...field, rule: 'remote_leads' as const }));
    let last = plan({ fields: ruled });
    await apply(last);
    for (const name of ['a', 'b', 'a', 'b']) {
      last = undoPlan(`to ${name}`, last, new Map(outcomes), book, sides.now());
      journal.clear();
      expect((await apply(last)).counts.stale).toBe(0);
      expect(sides.cards.get(card)?.fields.name).toBe(name);
    }
    // by now it holds something else
    sides.edit('local', card, 'name', 'c');
    last = undoPlan('too late', last, new Map(outcomes), book, sides.now());
    journal.clear();
    await apply(last);
    expect(sides.cards.get(card)?.fields.name).toBe('c');
  });

  it('makes no second record of a card that was merged into another one', async () => {
    const { sides, plan, apply, outcomes, card, book, journal } = await started();
    const merged = sides.create('local', fields('y', 'k8'));
    const made = plan();
    await apply(made);
    const back = undoPlan('undo', made, new Map(outcomes), book, sides.now());
    journal.clear();
    await apply(back);
    const ends = new Map(outcomes);
    journal.clear();
    await apply({ ...plan(), id: 'made anew' });
    sides.merge('local', merged, card);
    const count = sides.records.size;
    journal.clear();
    const { counts } = await apply(undoPlan('redo', back, ends, book, sides.now()));
    expect([counts.stale, sides.records.size]).toEqual([1, count]);
  });

  it('brings back what was removed: a card as it was, a record anew', async () => {
    for (const side of ['local', 'remote'] as const) {
      const { sides, plan, apply, outcomes, card, remote, book, journal } = await started();
      sides.remove(side === 'local' ? 'remote' : 'local', side === 'local' ? remote : card, true);
      await apply(plan());
      const made = plan();
      await apply(made);
      expect(sides.shown(side)).toEqual([]);
      const back = undoPlan('undo', made, new Map(outcomes), book, sides.now());
      journal.clear();
      expect((await apply(back)).counts).toMatchObject({ applied: 1 });
      expect(sides.shown(side).map(({ fields: { name } }) => name)).toEqual(['a']);
      // what was agreed on went back as well: the removal is proposed again, and nothing is made
      expect(plan().rows.map((row) => [row.action, row.side])).toEqual([['delete', side]]);
    }
  });
});
