import { Client } from '@langchain/langgraph-sdk/client';
import { API_URL } from '../app/base';
import { send } from './client';

/** The deployment API through the official SDK. Bundled as a separate chunk, which the first page doesn't load. */
export const sdk = new Client({ apiUrl: API_URL, apiKey: null, callerOptions: { fetch: send, maxRetries: 0 } });
