import { Group, PasswordInput, Select, Textarea, TextInput } from '@mantine/core';
import type { useSubmit } from './forms.ts';
import { useTexts } from './messages.tsx';

/** What is typed; empty members are not sent. */
export interface SftpInput {
  host: string;
  port: string;
  username: string;
  folder: string;
  host_key: string;
  login: 'password' | 'private_key';
  password: string;
  private_key: string;
  passphrase: string;
}

export const noSftp: SftpInput = {
  host: '',
  port: '22',
  username: '',
  folder: '',
  host_key: '',
  login: 'password',
  password: '',
  private_key: '',
  passphrase: '',
};

/** The destination that was typed. */
export function sftpDestination({ login, port, ...given }: SftpInput) {
  const { password, private_key, passphrase, host, username, folder, host_key } = given;
  return {
    kind: 'sftp' as const,
    host: host.trim(),
    port: Number(port),
    username: username.trim(),
    folder: folder.trim(),
    host_key: host_key.trim(),
    ...(login === 'password' ? { password } : { private_key, ...(passphrase && { passphrase }) }),
  };
}

interface SftpFieldsProps {
  value: SftpInput;
  onChange(value: SftpInput): void;
  errorOf: ReturnType<typeof useSubmit>['errorOf'];
}

/** The fields of an SFTP server. */
export function SftpFields({ value, onChange, errorOf }: SftpFieldsProps) {
  const t = useTexts();
  const field = (name: Exclude<keyof SftpInput, 'login'>) => ({
    label: t(`sftp.${name}`),
    value: value[name],
    error: errorOf(`destination.${name}`),
    onChange: (event: { target: { value: string } }) => onChange({ ...value, [name]: event.target.value }),
  });
  return (
    <>
      <Group align="flex-start" wrap="nowrap">
        <TextInput required maxLength={253} flex={1} {...field('host')} />
        <TextInput required type="number" min={1} max={65_535} w="6rem" {...field('port')} />
      </Group>
      <TextInput maxLength={500} placeholder="/incoming/estate" {...field('folder')} />
      <TextInput
        required
        maxLength={50}
        placeholder="SHA256:…"
        description={t('sftp.host_key.help')}
        {...field('host_key')}
      />
      <Group grow align="flex-start">
        <TextInput required maxLength={200} autoComplete="off" {...field('username')} />
        <Select
          label={t('sftp.login')}
          allowDeselect={false}
          value={value.login}
          data={(['password', 'private_key'] as const).map((one) => ({
            value: one,
            label: t(`sftp.${one}`),
          }))}
          onChange={(login) => onChange({ ...value, login: login as SftpInput['login'] })}
        />
      </Group>
      {value.login === 'password' ? (
        <PasswordInput required maxLength={500} autoComplete="new-password" {...field('password')} />
      ) : (
        <>
          <Textarea
            required
            autosize
            minRows={3}
            maxRows={6}
            maxLength={20_000}
            spellCheck={false}
            placeholder="-----BEGIN OPENSSH PRIVATE KEY-----"
            {...field('private_key')}
          />
          <PasswordInput maxLength={500} autoComplete="new-password" {...field('passphrase')} />
        </>
      )}
    </>
  );
}
