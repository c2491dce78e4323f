import { Button } from '@mantine/core';
import { useState } from 'react';
import { call, disableTwoFactor, renewRecoveryCodes } from '#client';
import { useFormat } from '../../kit/format.ts';
import { ToneMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { queryClient } from '../../shell/queries.ts';
import styles from './account.module.css';
import { Confirmation, RecoveryCodes, TwoFactorSetup } from './TwoFactorSetup.tsx';

interface State {
  enabled: boolean;
  required: boolean;
  confirmed_at: string | null;
  recovery_codes_left: number;
}

type Step = 'begin' | 'disable' | 'renew';

/** The second factor of the person's own account. */
export function TwoFactor({ state }: { state: State }) {
  const t = useTexts();
  const { date } = useFormat();
  const [step, setStep] = useState<Step>();
  const [codes, setCodes] = useState<string[]>();
  const done = async (created?: string[]) => {
    setStep(undefined);
    setCodes(created);
    await queryClient.invalidateQueries({ queryKey: ['account'] });
  };
  return (
    <section className={styles.section}>
      <h2>{t('factor.title')}</h2>
      {state.enabled ? (
        <p>
          <ToneMark tone="ok" icon="verified">
            {t('factor.on')}
          </ToneMark>{' '}
          {t('factor.since', {
            date: state.confirmed_at ? date(state.confirmed_at) : '',
            count: state.recovery_codes_left,
          })}
        </p>
      ) : (
        <p>{t('factor.help')}</p>
      )}
      {codes && <RecoveryCodes codes={codes} />}
      {step === 'begin' && <TwoFactorSetup hasFactor={state.enabled} onDone={done} />}
      {(step === 'disable' || step === 'renew') && (
        <Confirmation
          submit={t(step === 'disable' ? 'factor.disable' : 'factor.renew')}
          run={async (body) => {
            if (step === 'renew') return (await call(renewRecoveryCodes({ body }))).recovery_codes;
            await call(disableTwoFactor({ body }));
            return undefined;
          }}
          onDone={done}
        />
      )}
      {step === undefined && (
        <div className={styles.actions}>
          <Button variant="default" onClick={() => setStep('begin')}>
            {t(state.enabled ? 'factor.replace' : 'factor.begin')}
          </Button>
          {state.enabled && (
            <Button variant="default" onClick={() => setStep('renew')}>
              {t('factor.renew')}
            </Button>
          )}
          {state.enabled && !state.required && (
            <Button variant="default" onClick={() => setStep('disable')}>
              {t('factor.disable')}
            </Button>
          )}
        </div>
      )}
    </section>
  );
}
