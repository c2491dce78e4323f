import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectProblem, faults, ok, openApp } from '../../support/harness.ts';
import { merge } from '../cards/merge.fixture.ts';
import { planner } from './plan.fixture.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
const p = planner(t, admin);

describe('a dependency', () => {
  it('joins what there is in one initiative, once, and lets nothing wait for itself', async () => {
    const id = await p.initiative();
    const other = await p.initiative();
    const [front, back] = [await p.item(id, 'P'), await p.item(id, 'Q')];
    const [a, b, c] = [
      await p.task(id, 'A', { wbs_id: front }),
      await p.task(id, 'B', { wbs_id: back }),
      await p.task(id, 'C'),
    ];
    const made = await p.depend(id, `task ${a}`, `task ${b}`);
    expect(made.body).toMatchObject({
      initiative_id: id,
      pred_kind: 'task',
      pred_id: a,
      succ_id: b,
      kind: 'FS',
    });
    expect(await faults(p.depend(id, `task ${a}`, `task ${b}`))).toEqual([409, 'duplicate_dependency']);
    expect(await faults(p.depend(id, `task ${a}`, `task ${a}`))).toContain('succ_id same');
    expect(await faults(p.depend(id, `task ${b}`, `task ${a}`))).toContain('succ_id dependency_cycle');
    expect(await faults(p.depend(id, `wbs ${back}`, `wbs ${front}`))).toContain('succ_id dependency_cycle');
    expect(await faults(p.depend(id, `wbs ${front}`, `task ${a}`))).toContain('succ_id dependency_cycle');
    expect(await faults(p.depend(id, `task ${a}`, `wbs ${randomUUID()}`))).toContain('succ_id unknown_value');
    expect(await faults(p.depend(other, `task ${a}`, `task ${b}`))).toContain('pred_id unknown_value');
    expect(
      await faults(
        admin.post(p.url(id, 'dependencies'), { ...p.between(`task ${a}`, `task ${c}`), kind: 'SS' }),
      ),
    ).toContain('validation_failed');
    await ok(p.depend(id, `wbs ${front}`, `task ${c}`), 201);
    // c after p, and now in it; and p, which c waits for, in what waits for c
    expect(await faults(admin.patch(`/api/v1/ppm/tasks/${c}`, { wbs_id: front }))).toContain(
      'wbs_id dependency_cycle',
    );
    await ok(p.depend(id, `task ${c}`, `wbs ${back}`), 201);
    expect(await faults(admin.patch(`/api/v1/ppm/wbs/${front}`, { parent_id: back }))).toContain(
      'parent_id dependency_cycle',
    );
    await ok(admin.delete(`/api/v1/ppm/dependencies/${made.body.id}`), 204);
    // the other way round is taken now, and so the deleted one cannot come back
    const deleted = await p.lastBatch();
    await admin.delete(
      `/api/v1/ppm/dependencies/${(await admin.get(p.url(id, 'dependencies'))).body.items[1].id}`,
    );
    await admin.delete(
      `/api/v1/ppm/dependencies/${(await admin.get(p.url(id, 'dependencies'))).body.items[0].id}`,
    );
    await ok(p.depend(id, `task ${b}`, `task ${a}`), 201);
    await expectProblem(p.undo(deleted), 409, 'rollback_conflicts');
  });

  it('made at the same time as others closes no circle with them', async () => {
    const id = await p.initiative();
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await p.task(id, `T${n}`));
    const answers = await Promise.all(
      ids.map((from, n) => p.depend(id, `task ${from}`, `task ${ids[(n + 1) % ids.length]}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 422]);
    await ok(admin.get(p.url(id, 'critical-path')));
  });

  it('decides what is critical', async () => {
    const id = await p.initiative();
    const gate = await p.item(id, 'Gate', { is_milestone: true });
    const dates = (from: number, to: number) => ({
      start_date: `2026-03-0${from}`,
      due_date: `2026-03-0${to}`,
    });
    const a = await p.task(id, 'A', dates(2, 5));
    const b = await p.task(id, 'B', dates(2, 6));
    const c = await p.task(id, 'C', dates(2, 4));
    for (const [pred, succ] of [
      [a, b],
      [a, c],
    ])
      await p.depend(id, `task ${pred}`, `task ${succ}`);
    for (const pred of [b, c]) await p.depend(id, `task ${pred}`, `wbs ${gate}`);
    const { body } = await viewer.get(p.url(id, 'critical-path'));
    expect(body).toMatchObject({
      initiative_id: id,
      start_date: '2026-03-02',
      end_date: '2026-03-09',
      duration: 7,
    });
    expect(body.critical_path).toEqual([
      { kind: 'task', id: a, title: 'A' },
      { kind: 'task', id: b, title: 'B' },
      { kind: 'wbs', id: gate, title: 'Gate' },
    ]);
    expect(body.items.find((found: { id: string }) => found.id === c)).toEqual({
      kind: 'task',
      id: c,
      title: 'C',
      wbs_id: null,
      duration: 2,
      earliest_start: '2026-03-05',
      earliest_end: '2026-03-07',
      latest_start: '2026-03-07',
      latest_end: '2026-03-09',
      slack: 2,
      critical: false,
    });
  });

  it('moves with a merge, as all of a plan, and is there again when its card is', async () => {
    const [survivor, gone] = [await p.initiative(), await p.initiative()];
    const w = await p.item(gone, 'W');
    const inner = await p.item(gone, 'Inner', { parent_id: w });
    const a = await p.task(gone, 'A', { wbs_id: inner, assignee_id: member.userId });
    const b = await p.task(gone, 'B');
    await p.depend(gone, `wbs ${w}`, `task ${b}`);
    await member.post(`/api/v1/ppm/tasks/${a}/comments`, { content: 'Said.' });
    const merged = await merge(admin, survivor, [gone]);
    expect(merged.body.moved, merged.text).toMatchObject({
      task: 2,
      'WBS item': 2,
      'task dependency': 1,
      'task comment': 1,
    });
    expect((await admin.get(p.url(survivor, 'critical-path'))).body.items).toHaveLength(4);
    await ok(admin.delete(`/api/v1/cards/${survivor}`));
    await admin.undo();
    expect((await admin.get(p.url(survivor, 'critical-path'))).body.items).toHaveLength(4);
    expect((await admin.get(`/api/v1/ppm/tasks/${a}/comments`)).body.total).toBe(1);
    // once more away, and back again
    for (const n of [0, 1]) {
      await admin.undo();
      expect((await admin.get(`/api/v1/cards/${survivor}`)).status).toBe([404, 200][n]);
    }
    // what others have built on stays
    const batch = await db('events')
      .where({ event_type: 'ppm_wbs.created' })
      .whereRaw(`data ->> 'id' = ?`, [w])
      .first('batch_id');
    const refused = await p.undo(batch.batch_id, { force: true });
    expect(refused.body.counts ?? refused.body.code, refused.text).toMatchObject({ left: 1 });
  });
});
