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
