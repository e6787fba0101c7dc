import { useState } from 'react';
import { API_URL } from '../app/base';
import { useStore } from '../app/external-store';
import { credentials } from '../app/session';
import type { Call } from './api-call';
import { CopyButton } from './copy-button';
import { Dialog } from './dialog';
import { quoted } from './shell';
import { Tabs } from './tabs';

/** Placeholder for the key: this text gets copied into tickets and shells. */
const KEY_PLACES = { api_key: ['x-api-key', '$GANTRY_API_KEY'], token: ['authorization', 'Bearer $TOKEN'] } as const;

function curl({ method, path, body }: Call, header: readonly [string, string] | undefined): string {
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(API_URL + path)}`];
  if (header) lines.push(`-H "${header[0]}: ${header[1]}"`);
  if (body !== undefined) {
    lines.push(`-H 'content-type: application/json'`);
    lines.push(`-d ${quoted(JSON.stringify(body))}`);
  }
  return lines.join(' \\\n  ');
}

function javascript({ method, path, body, js }: Call, header: readonly [string, string] | undefined): string {
  if (js) {
    const key = header?.[0] === 'x-api-key' ? ', apiKey: process.env.GANTRY_API_KEY' : '';
    return `import { Client } from "@langchain/langgraph-sdk";\n\nconst client = new Client({ apiUrl: "${API_URL}"${key} });\nconst answer = await client.${js};`;
  }
  const headers = {
    ...(header && { [header[0]]: header[1] }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const options = [
    method !== 'GET' && `  method: "${method}",`,
    Object.keys(headers).length > 0 && `  headers: ${JSON.stringify(headers)},`,
    body !== undefined && `  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),`,
  ].filter(Boolean);
  return `const response = await fetch("${API_URL}${path}"${options.length > 0 ? `, {\n${options.join('\n')}\n}` : ''});\nconst answer = await response.json();`;
}

const toPython = (value: unknown): string =>
  JSON.stringify(value, null, 4)
    .replace(/: true\b/g, ': True')
    .replace(/: false\b/g, ': False')
    .replace(/: null\b/g, ': None');

function python({ method, path, body, python: sdk }: Call, header: readonly [string, string] | undefined): string {
  if (sdk) {
    const key = header?.[0] === 'x-api-key' ? ', api_key=os.environ["GANTRY_API_KEY"]' : '';
    return `${key && 'import os\n'}from langgraph_sdk import get_sync_client\n\nclient = get_sync_client(url="${API_URL}"${key})\nanswer = client.${sdk}`;
  }
  const args = [
    `"${API_URL}${path}"`,
    header && `headers={"${header[0]}": "${header[1]}"}`,
    body !== undefined && `json=${toPython(body)}`,
  ].filter(Boolean);
  return `import httpx\n\nresponse = httpx.${method.toLowerCase()}(\n    ${args.join(',\n    ').replaceAll('\n}', '\n    }')},\n)\nanswer = response.json()`;
}

function Code({ text }: { text: string }) {
  return (
    <div className="relative rounded-lg border border-line bg-sunken">
      <div className="absolute top-1 right-1">
        <CopyButton text={text} />
      </div>
      <pre tabIndex={0} className="overflow-auto p-3 pr-10 font-mono text-xs leading-5">
        {text}
      </pre>
    </div>
  );
}

export default function ApiCallDialog({ call, onClose }: { call: Call; onClose: () => void }) {
  const [language, setLanguage] = useState('curl');
  const given = useStore(credentials);
  const header = given && KEY_PLACES[given.kind];
  const texts = { curl: curl(call, header), JavaScript: javascript(call, header), Python: python(call, header) };
  return (
    <Dialog title="API call" open onClose={onClose} wide>
      <Tabs
        label="Language"
        value={language}
        onChange={setLanguage}
        tabs={Object.entries(texts).map(([name, text]) => ({
          value: name,
          label: name,
          content: <Code text={text} />,
        }))}
      />
    </Dialog>
  );
}
