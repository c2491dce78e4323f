import type { AiSettings } from '../../../domain/analysis/ai/ai.provider.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import { apiAddress } from './models.open.ts';

// short timeout: the list is optional in the status
const TIMEOUT_MS = 1_000;
const MAX_BYTES = 64 * 1024;

/** The models that Ollama has loaded (`GET /api/ps`); empty for other providers, and if it does not respond. */
export async function runningModels(outbound: Outbound, settings: AiSettings): Promise<string[]> {
  if (settings.provider_type !== 'ollama' || !settings.enabled) return [];
  try {
    const { status, body } = await outbound.request(`${new URL(apiAddress(settings)).origin}/api/ps`, {
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    const { models } = status === 200 ? JSON.parse(body.toString('utf8')) : { models: [] };
    return models.map(({ name }: { name: unknown }) => String(name).slice(0, 200)).slice(0, 100);
  } catch {
    return [];
  }
}
