import type { Services } from '../../../domain/kernel/services.ts';
import { sendNow } from '../../../integrations/mail/mail.send.ts';
import { testModel } from '../../../integrations/models/models.test-provider.ts';
import { EstateError } from '../../../platform/errors.ts';
import { ok, routesOf } from '../../operation.ts';
import { TestOutcome } from '../../schemas/settings.ts';
import type { App } from '../../types.ts';

const outcome = ok('The outcome of the test', TestOutcome);

/** Tests of the servers that the settings configure. */
export function registerSettingTestRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Settings' });

  routes.post('/api/v1/settings/email/test', {
    id: 'testEmailSettings',
    summary: 'Test the mail server by a mail to the caller',
    permission: 'admin.settings',
    answers: outcome,
    handler: async ({ ctx }) => {
      const { email } = ctx.caller;
      if (email === null) return { success: false, message: 'Your account has no e-mail address.' };
      try {
        await sendNow(services, {
          to: email,
          subject: 'Mails arrive',
          text: 'This is a test mail. The mail server works.\n',
        });
        return { success: true, message: `The mail server has accepted a mail to ${email}.` };
      } catch (error) {
        if (!(error instanceof EstateError)) throw error;
        return { success: false, message: error.message };
      }
    },
  });

  routes.post('/api/v1/settings/ai/test', {
    id: 'testAiSettings',
    summary: 'Test the AI provider',
    description: 'Asks the model for a sum, even if AI is disabled. No data of the inventory is sent.',
    permission: 'admin.settings',
    answers: outcome,
    handler: ({ ctx }) => testModel(ctx, services),
  });
}
