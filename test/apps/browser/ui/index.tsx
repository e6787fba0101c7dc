import { useStreamContext } from '@langchain/langgraph-sdk/react-ui';
import { useState } from 'react';
import './styles.css';

/** A component with styles, state and the conversation that it is shown in. */
function Weather({ city }: { city: string }) {
  const { submit } = useStreamContext<{ messages: { type: string; content: string }[] }>();
  const [count, setCount] = useState(0);
  return (
    <section className="weather rounded-xl">
      <h2>Weather in {city}</h2>
      <button onClick={() => setCount(count + 1)}>Looked {count} times</button>
      <button onClick={() => void submit({ messages: [{ type: 'human', content: `${city} again` }] })}>Again</button>
    </section>
  );
}

export default { weather: Weather };
