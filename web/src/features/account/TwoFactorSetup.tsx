import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type BeginTwoFactorResponse, beginTwoFactor, call, confirmTwoFactor } from '#client';
import { useSubmit } from '../../kit/forms.ts';
import { useTexts } from '../../kit/messages.tsx';
import styles from './account.module.css';
import { CopyButton } from './CopyButton.tsx';
import { QrCode } from './QrCode.tsx';

interface SetupProps {
  /** Whether a factor stands that is replaced. */
  hasFactor: boolean;
  onDone(recoveryCodes: string[]): void;
}

/** Password, then the picture for the authenticator, then its first code. */
export function TwoFactorSetup({ hasFactor, onDone }: SetupProps) {
  const t = useTexts();
  const [secret, setSecret] = useState<BeginTwoFactorResponse>();
  const [code, setCode] = useState('');
  const confirm = useSubmit(
    () => call(confirmTwoFactor({ body: { code } })),
    ({ recovery_codes }) => onDone(recovery_codes),
  );
  if (!secret)
    return (
      <Confirmation
        submit={t('factor.continue')}
        withCode={hasFactor}
        run={(body) => call(beginTwoFactor({ body }))}
        onDone={setSecret}
      />
    );
  return (
    <form className={styles.setup} onSubmit={confirm.submit}>
      <p>{t('factor.scan')}</p>
      <div className={styles.qr}>
        <QrCode text={secret.otpauth_uri} label={t('factor.picture')} />
      </div>
      <p>{t('factor.byHand')}</p>
      <code className={styles.secret}>{secret.secret}</code>
      <TextInput
        label={t('factor.code')}
        autoComplete="one-time-code"
        inputMode="numeric"
        autoFocus
        value={code}
        onChange={(event) => setCode(event.target.value)}
        error={confirm.errorOf('code') ?? confirm.failure}
      />
      <Button type="submit" loading={confirm.isBusy} disabled={code === ''}>
        {t('factor.activate')}
      </Button>
    </form>
  );
}

/** Codes that each open the account once, shown this one time. */
export function RecoveryCodes({ codes }: { codes: string[] }) {
  const t = useTexts();
  return (
    <div className={styles.setup}>
      <p>{t('factor.recovery')}</p>
      <ul className={styles.codes}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <CopyButton text={codes.join('\n')} />
    </div>
  );
}

interface ConfirmationProps<T> {
  submit: string;
  /** Whether a code of the present factor is asked for too. */
  withCode?: boolean;
  run(body: { password: string; code?: string }): Promise<T>;
  onDone(result: T): void;
}

/** Password, and a code of the present factor, before something about it changes. */
export function Confirmation<T>({ submit, withCode = true, run, onDone }: ConfirmationProps<T>) {
  const t = useTexts();
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const form = useSubmit(() => run({ password, ...(code && { code }) }), onDone);
  return (
    <form className={styles.setup} onSubmit={form.submit}>
      <PasswordInput
        label={t('login.password')}
        autoComplete="current-password"
        autoFocus
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={form.errorOf('password') ?? form.failure}
      />
      {withCode && (
        <TextInput
          label={t('login.code')}
          description={t('login.codeHelp')}
          autoComplete="one-time-code"
          value={code}
          onChange={(event) => setCode(event.target.value)}
          error={form.errorOf('code')}
        />
      )}
      <Button type="submit" variant="default" loading={form.isBusy} disabled={password === ''}>
        {submit}
      </Button>
    </form>
  );
}
