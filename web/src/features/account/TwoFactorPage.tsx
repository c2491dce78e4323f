import { Button } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTexts } from '../../kit/messages.tsx';
import { enter } from './enter.ts';
import { PublicPage } from './PublicPage.tsx';
import { RecoveryCodes, TwoFactorSetup } from './TwoFactorSetup.tsx';

/** The set-up of a second factor that the workspace requires, before anything else is open. */
export function TwoFactorPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const { next } = useSearch({ from: '/two-factor' });
  const [codes, setCodes] = useState<string[]>();
  return (
    <PublicPage title={t('factor.title')}>
      {codes ? (
        <>
          <RecoveryCodes codes={codes} />
          <Button size="sm" onClick={() => enter(navigate, {}, next)}>
            {t('factor.continue')}
          </Button>
        </>
      ) : (
        <>
          <p>{t('factor.required')}</p>
          <TwoFactorSetup hasFactor={false} onDone={setCodes} />
        </>
      )}
    </PublicPage>
  );
}
