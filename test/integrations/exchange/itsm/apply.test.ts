import { verifyRows } from '../../../../integrations/exchange/itsm/engine/apply.ts';
import { fields, landscape, mapping, started } from './apply.landscape.ts';
import { Killed } from './histories/memory.port.ts';
import type { Disruption } from './histories/steps.ts';

it('ends rows whose state has changed as stale and plans them again with the next run', async () => {
  const { sides, plan, apply, outcomes, card, remote, syncState } = await started();
  sides.edit('local', card, 'name', 'b');
  const made = await plan();
  sides.edit('remote', remote, 'name', 'c');
  expect((await apply(made)).counts).toMatchObject({ stale: 1, applied: 0 });
  expect(outcomes.get(0)?.message).toBe("'name' is 'c' at the remote now, instead of 'a'.");
  expect(syncState.again).toEqual(new Set([remote]));
  await apply(plan());
  expect(sides.cards.get(card)?.fields.name).toBe('c');
});

it('resumes after a kill and sends no write twice', async () => {
  const { sides, plan, apply } = landscape();
  for (const key of ['k1', 'k2', 'k3']) sides.create('local', fields(key, key));
  const made = await plan();
  for (const call of [2, 3, 1, 2, 4, 6]) {
    const killed = apply(made, [{ kind: 'kill', call, after: true }]);
    await killed.catch((error) => expect(error).toBeInstanceOf(Killed));
  }
  expect((await apply(made)).status).toBe('done');
  expect(sides.objects('remote').map(({ fields: { name } }) => name)).toEqual(['k1', 'k2', 'k3']);
});

it('notes values that the remote stored differently from what was sent', async () => {
  const { sides, plan, apply, outcomes } = landscape({ normalizesTexts: true });
  sides.create('local', { ...fields('a', 'k1'), 'attributes.note': 'Loud' });
  await apply(plan());
  expect([...outcomes.values()]).toMatchObject([
    { progress: 'applied', message: "The remote stored 'attributes.note' as 'r:loud' instead of 'R:Loud'." },
  ]);
});

it('looks a write without a response up before it sends it again', async () => {
  for (const done of [true, false]) {
    const { sides, plan, apply } = landscape();
    sides.create('local', fields('a', 'k1'));
    const lost: Disruption = { kind: 'lost', call: 1, done };
    expect(await apply(plan(), [lost])).toMatchObject({ status: 'done', counts: { applied: 1 } });
    expect(sides.records.size).toBe(1);
  }
});

it('writes references to objects that it creates itself, whenever it is killed and whichever response is lost', async () => {
  const PLACE = 'relations.relRememberedAt';
  for (const side of ['local', 'remote'] as const) {
    for (let call = 0; ; call += 1) {
      const { sides, syncState, plan, apply } = landscape();
      const [one, other] = ['k1', 'k2'].map((key) => sides.create(side, fields(key, key))) as [
        string,
        string,
      ];
      // each refers to the other, so that neither can be created first with its reference
      sides.edit(side, one, PLACE, other);
      sides.edit(side, other, PLACE, one);
      const made = await plan();
      expect(made.rows.map(({ action }) => action)).toEqual(['create', 'create', 'update', 'update']);
      expect(made.closing.again).toEqual([]);
      const disruption: Disruption =
        call % 2 === 0
          ? { kind: 'kill', call: call / 2, after: true }
          : { kind: 'lost', call: (call - 1) / 2, done: true };
      const disruptions = [disruption];
      await apply(made, disruptions, { chunk: 2 }).catch((error) => expect(error).toBeInstanceOf(Killed));
      expect((await apply(made, [], { chunk: 2 })).status).toBe('done');
      const pairs = [...syncState.pairs.values()];
      const paired = new Map(pairs.map(({ cardId, remoteId }) => [cardId, remoteId]));
      expect([pairs.length, sides.cards.size, sides.records.size]).toEqual([2, 2, 2]);
      for (const { cardId, remoteId } of pairs) {
        const card = sides.cards.get(cardId)!.fields[PLACE] as string;
        const record = sides.records.get(remoteId)!.fields.u_place!.value;
        expect([paired.get(card), card === cardId]).toEqual([record, false]);
      }
      expect((await plan()).rows).toEqual([]);
      if (disruptions.length > 0 && disruption.kind === 'kill') break;
    }
  }
});

it('applies the approved rows, and the others later', async () => {
  const { sides, plan, apply } = landscape();
  for (const key of ['k1', 'k2']) sides.create('local', fields(key, key));
  const made = await plan();
  const approvals = new Map([[1, 'approved' as const]]);
  expect((await apply(made, [], { approvals })).counts).toMatchObject({ applied: 1, pending: 1 });
  expect(sides.objects('remote').map(({ fields: { name } }) => name)).toEqual(['k2']);
  expect((await apply(made)).counts).toMatchObject({ applied: 2 });
  expect(sides.records.size).toBe(2);
});

it('applies nothing above the deletion limit, unless a user overrides it', async () => {
  const { sides, plan, apply, remote, syncState } = await started();
  sides.remove('remote', remote, true);
  const made = await plan({ max_deletions: 0 });
  expect(await apply(made)).toMatchObject({ status: 'stopped', message: expect.stringMatching('1 removal') });
  expect(syncState.pairs.get(remote)?.state.kind).toBe('linked');
  await apply({ ...made, stopped: null });
  expect(syncState.pairs.get(remote)?.state.kind).toBe('quarantined');
});

it('is verified against the records', async () => {
  const { sides, plan, apply, outcomes, card, remote, syncState } = await started();
  sides.edit('local', card, 'name', 'b');
  const made = await plan();
  await apply(made);
  expect([...outcomes.values()]).toMatchObject([{ progress: 'applied' }]);
  const findings = () =>
    verifyRows(
      mapping,
      made.rows.map((row) => ({ row, createdId: null })),
      {
        pairs: syncState.pairs,
        records: new Map([[remote, { kind: 'there', record: sides.records.get(remote)! }]]),
      },
    );
  expect(findings()).toEqual([]);
  sides.edit('remote', remote, 'name', 'z');
  expect(findings()).toEqual([{ no: 0, message: "'name' is 'z' instead of 'b'." }]);
});
