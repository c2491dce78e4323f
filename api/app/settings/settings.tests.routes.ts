import type { Services } from '../../../domain/kernel/services.ts';
import { sendNow } from '../../../integrations/mail/mail.send.ts';
import { tryModel } from '../../../integrations/models/models.try.ts';
import { EstateError } from '../../../platform/errors.ts';
import { routesOf } from '../../operation.ts';
import { TestOutcome } from '../../schemas/settings.ts';
import type { App } from '../../types.ts';

const outcome = { 200: { description: 'What came of it', schema: TestOutcome } };

/** The tries of the servers that the settings lead to. */
export function registerSettingTestRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Settings' });

  routes.post('/api/v1/settings/email/test', {
    id: 'testEmailSettings',
    summary: 'Send yourself a mail, to try the mail server',
    permission: 'admin.settings',
    answers: outcome,
    handler: async ({ ctx }) => {
      const { email } = ctx.caller;
      if (email === null) return { success: false, message: 'Your account has no e-mail address.' };
      try {
        await sendNow(services, {
          to: email,
          subject: 'Mails arrive',
          text: 'This mail was sent to try the mail server. It works.\n',
        });
        return { success: true, message: `The mail server has taken a mail to ${email}.` };
      } catch (error) {
        if (!(error instanceof EstateError)) throw error;
        return { success: false, message: error.message };
      }
    },
  });

  routes.post('/api/v1/settings/ai/test', {
    id: 'testAiSettings',
    summary: 'Try the provider of AI',
    description:
      'The model is asked for a sum, also while it is not enabled. It is sent nothing of the inventory.',
    permission: 'admin.settings',
    answers: outcome,
    handler: ({ ctx }) => tryModel(ctx, services),
  });
}
