import Type from 'typebox';
import { readAiProvider } from '../../../domain/analysis/ai/ai.provider.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { EstateError } from '../../../platform/errors.ts';
import { completeWith } from './models.complete.ts';
import { promptNamed } from './models.data.ts';
import { ModelFailure, type ModelServices, requestRetryPolicy } from './models.types.ts';

const schema = object({ sum: Type.Integer() });

/** Tests the model with a small question, even if AI is disabled. No data of the inventory is sent. */
export async function testModel(
  ctx: Ctx,
  services: ModelServices,
): Promise<{ success: boolean; message: string }> {
  try {
    const provider = await readAiProvider(ctx.db, services.secrets, { ignores: ['enabled'] });
    const { model, usage } = await completeWith(
      services,
      provider,
      {
        purpose: 'try',
        runId: null,
        prompt: promptNamed('try'),
        data: { a: 19, b: 23 },
        schema,
        check: ({ sum }) => (sum === 42 ? [] : ['That is not the sum.']),
      },
      { ...requestRetryPolicy, attempts: 1 },
    );
    const tokens = usage.tokensIn + usage.tokensOut;
    return { success: true, message: `The model ${model} has responded, using ${tokens} tokens.` };
  } catch (error) {
    if (error instanceof ModelFailure) return { success: false, message: messageOf(error) };
    if (error instanceof EstateError && error.code === 'ai_not_configured') {
      return { success: false, message: 'No AI provider is configured.' };
    }
    throw error;
  }
}

/** The message for administrators of the settings contains the refused address and the provider's text. */
function messageOf({ kind, message, cause }: ModelFailure): string {
  if (kind === 'address') return String(cause);
  return kind === 'rejected' ? `${message} Its message: ${cause}` : message;
}
