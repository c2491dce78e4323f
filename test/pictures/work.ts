import { chain } from '../api/bpm/models.ts';
import type { Api } from '../bench/harness/api.ts';

/** Gives the caller something to do: roles, to-dos, of which one is overdue, and favorites. */
export async function takeOnWork(api: Api): Promise<void> {
  const me = await api.get<{ id: string }>('/auth/me');
  const { items } = await api.get<{ items: { id: string }[] }>('/cards?type=Application&page_size=7');
  for (const [index, { id }] of items.entries()) {
    await api.post(`/favorites/${id}`, {});
    if (index < 4) await api.post(`/cards/${id}/stakeholders`, { user_id: me.id, role: 'responsible' });
    if (index >= 3) continue;
    const due_date = new Date(Date.now() + (index * 14 - 7) * 86_400_000).toISOString().slice(0, 10);
    await api.post(`/cards/${id}/todos`, {
      description: 'Review the licences',
      assigned_to: me.id,
      due_date,
    });
  }
}

type Named = { id: string; name: string };

/** Gives some processes diagrams of three steps, each of them linked to an application that the process uses. */
export async function drawProcesses(api: Api): Promise<void> {
  const { rows, columns, cells } = await api.get<{
    rows: Named[];
    columns: Named[];
    cells: { process_id: string; application_id: string }[];
  }>('/reports/bpm/process-application-matrix');
  for (const { id } of rows.slice(0, 12)) {
    const used = cells.filter(({ process_id }) => process_id === id).slice(0, 3);
    if (used.length === 0) continue;
    const names = used.map(({ application_id }) => columns.find((one) => one.id === application_id)!.name);
    const process = `/bpm/processes/${id}`;
    const steps = names.map((name, at): [string, string] => [`step${at}`, `Work in ${name}`]);
    await api.send('PUT', `${process}/diagram`, { bpmn_xml: chain(Object.fromEntries(steps)) });
    const { items } = await api.get<{ items: { id: string }[] }>(`${process}/elements`);
    for (const [at, { application_id }] of used.entries())
      await api.send('PUT', `${process}/elements/${items[at]!.id}`, { application_id });
  }
}
