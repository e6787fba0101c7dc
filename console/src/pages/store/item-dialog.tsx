import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { sendJson } from '../../api/json';
import type { Schemas } from '../../api/info';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/form-field';
import { JsonField } from '../../ui/json-editor';

export type Item = Schemas['Item'];

interface Props {
  /** Item to edit; a new one is created if absent. */
  item?: Item;
  /** Initial namespace of a new item. */
  namespace?: string[];
  onClose: () => void;
}

export function ItemDialog({ item, namespace = [], onClose }: Props) {
  const client = useQueryClient();
  const [place, setPlace] = useState((item?.namespace ?? namespace).join('.'));
  const [key, setKey] = useState(item?.key ?? '');
  const [value, setValue] = useState<unknown>(item?.value ?? {});
  const [minutes, setMinutes] = useState('');
  const submit = async (): Promise<void> => {
    await sendJson('PUT', '/store/items', {
      namespace: item?.namespace ?? place.split('.'),
      key,
      value,
      ...(minutes && { ttl: Number(minutes) }),
    });
    await client.invalidateQueries({ queryKey: ['store'] });
  };
  return (
    <FormDialog title={item ? item.key : 'New item'} action="Store" submit={submit} onClose={onClose} wide>
      {!item && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label="Namespace"
            value={place}
            onChange={setPlace}
            isRequired
            hint="Labels with periods between them"
          />
          <TextField label="Key" value={key} onChange={setKey} isRequired />
        </div>
      )}
      <div>
        <span className="mb-1 block font-medium">Value</span>
        <JsonField value={value} onChange={setValue} label="Value" />
      </div>
      <TextField
        label="Minutes to live"
        type="number"
        value={minutes}
        onChange={setMinutes}
        hint="Left empty: what langgraph.json says, or for ever."
      />
    </FormDialog>
  );
}
