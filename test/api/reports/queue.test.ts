import type { PrintDocument } from '../../../reports/kernel/documents/document.types.ts';
import { render } from '../../../reports/kernel/rendering/rendering.queue.ts';
import { openApp } from '../../support/harness.ts';

const { admin } = await openApp(['admin']);

/** Its layout takes longer than a document may. */
const slow: PrintDocument = {
  kind: 'Decision',
  title: 'A document',
  notice: null,
  facts: [['State', 'Draft']],
  written: '2026-01-01T00:00:00.000Z',
  footer: '',
  parts: [{ kind: 'markdown', text: '|a'.repeat(400_000), level: 2 }],
  signatures: [],
};

it('refuses the picture of a user of whom too many wait, and declares that', async () => {
  const stop = new AbortController();
  // two are made, fifty wait
  const waiting = Array.from({ length: 52 }, () =>
    render({ make: 'pdf', paper: slow }, { user: admin.userId, signal: stop.signal }).catch(() => undefined),
  );
  try {
    for (const path of ['reports/kpis', 'reports/landscape', 'reports/cost-treemap']) {
      const answer = await admin.get(`/api/v1/${path}`, { accept: 'image/svg+xml' });
      expect([answer.status, answer.body.code], path).toEqual([429, 'too_many_requests']);
    }
  } finally {
    stop.abort(new Error('enough'));
    await Promise.all(waiting);
  }
});
