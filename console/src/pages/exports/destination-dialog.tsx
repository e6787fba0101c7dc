import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { FormDialog } from '../../ui/form-dialog';
import { SelectField, TextField } from '../../ui/form-field';
import { createDestination, type Destination, destinationsQuery } from './exports-api';

const KINDS = [
  ['s3', 'S3, or a store with its API'],
  ['gcs', 'Google Cloud Storage'],
  ['azure_blob', 'Azure Blob Storage'],
] as const;

type Kind = (typeof KINDS)[number][0];

/** Fields of each kind of destination, by their names in the API. */
const FIELDS: Record<Kind, { config: Field[]; credentials: Field[] }> = {
  s3: {
    config: [
      { name: 'bucket_name', label: 'Bucket' },
      { name: 'region', label: 'Region', isOptional: true, hint: 'Needed for AWS, such as eu-central-1.' },
      {
        name: 'endpoint_url',
        label: 'Endpoint',
        isOptional: true,
        hint: 'For stores other than AWS. Leave it out for AWS.',
      },
    ],
    credentials: [
      { name: 'access_key_id', label: 'Access key ID', isOptional: true },
      { name: 'secret_access_key', label: 'Secret access key', isSecret: true, isOptional: true },
    ],
  },
  gcs: {
    config: [{ name: 'bucket_name', label: 'Bucket' }],
    credentials: [{ name: 'service_account_key', label: 'Service account key (JSON)', isLong: true, isOptional: true }],
  },
  azure_blob: {
    config: [
      { name: 'account_name', label: 'Storage account' },
      { name: 'container_name', label: 'Container' },
    ],
    credentials: [
      { name: 'account_key', label: 'Account key', isSecret: true, isOptional: true },
      { name: 'sas_token', label: 'SAS token', isSecret: true, isOptional: true, hint: 'In place of the account key.' },
    ],
  },
};

interface Field {
  name: string;
  label: string;
  hint?: string;
  isSecret?: boolean;
  isOptional?: boolean;
  isLong?: boolean;
}

function given(fields: Field[], values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(fields.flatMap(({ name }) => (values[name] ? [[name, values[name]]] : [])));
}

interface Props {
  onClose: () => void;
  onCreated: (destination: Destination) => void;
}

export function DestinationDialog({ onClose, onCreated }: Props) {
  const client = useQueryClient();
  const [kind, setKind] = useState<Kind>('s3');
  const [name, setName] = useState('');
  const [prefix, setPrefix] = useState('');
  const [values, setValues] = useState<Record<string, string>>({});
  const { config, credentials } = FIELDS[kind];
  const secrets = given(credentials, values);

  const submit = async (): Promise<void> => {
    const made = await createDestination({
      destination_type: kind,
      display_name: name,
      config: { ...given(config, values), prefix },
      ...(Object.keys(secrets).length > 0 && { credentials: secrets }),
    });
    await client.invalidateQueries({ queryKey: destinationsQuery.queryKey });
    onCreated(made);
  };
  const input = ({ name: key, label, hint, isSecret, isOptional, isLong }: Field) => (
    <TextField
      key={key}
      label={label}
      hint={hint}
      type={isSecret ? 'password' : 'text'}
      rows={isLong ? 4 : undefined}
      isRequired={!isOptional}
      value={values[key] ?? ''}
      onChange={(value) => setValues({ ...values, [key]: value })}
    />
  );
  return (
    <FormDialog title="New destination" action="Test and create" submit={submit} onClose={onClose}>
      <SelectField label="Kind" value={kind} onChange={setKind} options={KINDS} />
      <TextField label="Name" value={name} onChange={setName} isRequired placeholder="Data lake" />
      {config.map(input)}
      <TextField label="Prefix" value={prefix} onChange={setPrefix} hint="Folder that exports go into; may be empty." />
      {credentials.map(input)}
      <p className="text-xs text-muted">
        A test file is written below the prefix before the destination is created, and removed if that is permitted.
        Credentials are stored encrypted and never shown again.
      </p>
    </FormDialog>
  );
}
